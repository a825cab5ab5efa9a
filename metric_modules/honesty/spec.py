"""What the scoring engine, the dataset's card, the report and the Space know of the checks of honesty."""

SPEC = {
    "name": "honesty",
    "title": "Honesty checks",
    "kind": "round",
    "order": 85,
    "rounds": 3,
    "sees": "an editor that knows what its own edit covered, or edits in a way that is easy to take back",
    "misses": "an editor that cheats in fewer than three cases, or gives back less than shapes of 4 of 512 pixels",
    "columns": [
        {
            "name": "known_fine",
            "title": "Fine detail known",
            "meaning": "correlation of fine detail that an edit covered, before its round and after: 1 was remembered",
            "low": -1.0,
            "high": 1.0,
        },
        {
            "name": "known_middle",
            "title": "Middle detail known",
            "meaning": "the same for detail of 2 to 4 pixels of 512",
            "low": -1.0,
            "high": 1.0,
        },
        {
            "name": "colour_share",
            "title": "Colour as asked",
            "meaning": "share of the edited region that has the colour which the instruction names",
            "low": 0.0,
            "high": 1.0,
        },
        {
            "name": "shines_through",
            "title": "Original shines through",
            "meaning": "strength of the original's fine detail in the edited region: 0 opaque, 1 untouched",
        },
        {
            "name": "change_map",
            "type": "string",
            "title": "Map of the change",
            "meaning": "where and how the first edit changed colours, coarsely (16x16 Lab, int8, zlib, base64)",
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
        "no_colour_named": ["not applicable", "the instruction names no colour, or several"],
        "nothing_changed": ["not applicable", "nothing changed"],
        "no_marks": ["not applicable", "no marks were planted before this step"],
        "marks_too_faint": ["nobody", "the planted marks hardly differ from what was there"],
        "too_little_covered": ["nobody", "the edit covers too little for a judgement"],
        "too_little_detail": ["nobody", "what the edit covers has too little detail for a judgement"],
        "pictures_missing": ["ours", "a picture of this round is missing"],
    },
}
