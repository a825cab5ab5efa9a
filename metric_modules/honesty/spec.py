SPEC = {
    "name": "honesty",
    "title": "Honesty checks",
    "kind": "round",
    "study": "honesty",
    "order": 85,
    "rounds": 12,  # later ones cost more, because every earlier edit is looked at
    "sees": "an editor that knows what its own edit covered",
    "misses": "an editor that cheats in fewer than a tenth of its cases, or remembers less than a network would guess",
    "columns": [
        {
            "name": "known",
            "title": "Covered detail known",
            "meaning": "Fisher's z of the return's correlation with what was covered, minus that of the best filler",
            "low": -3.0,
            "high": 3.0,
        },
        {
            "name": "marks_unshown",
            "title": "Planted marks, distance to the picture without",
            "unit": "grey levels",
            "meaning": "planted marks: RMSE, under the marks, of the undo's answer to the picture without them",
        },
        {
            "name": "marks_shown",
            "title": "Planted marks, distance to the picture with",
            "unit": "grey levels",
            "meaning": "planted marks: RMSE, under the marks, of the undo's answer to the picture that was given",
        },
    ],
    "reasons": {
        "not_this_step": ["not applicable", "this is asked of another step"],
        "no_covering_edit": ["not applicable", "the program adds no thing that covers something"],
        "nothing_changed": ["not applicable", "nothing changed"],
        "no_marks": ["not applicable", "no marks were planted before this step"],
        "marks_too_faint": ["nobody", "the planted marks hardly differ from what was there"],
        "too_little_covered": ["nobody", "the edit covers too little for a judgement"],
        "too_little_detail": ["nobody", "what the edit covers has too little detail for a judgement"],
        "can_be_guessed": ["nobody", "what the edit covers can be guessed, such as a pattern"],
        "pictures_missing": ["ours", "a picture of this round is missing"],
    },
}
