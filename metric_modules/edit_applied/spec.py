"""What the scoring engine, the dataset's card, the report and the Space know of edits made and taken back."""

SPEC = {
    "name": "edit_applied",
    "title": "Edit made, taken back",
    "kind": "round",
    "order": 70,
    "after": ["clip"],
    "sees": "an editor that does nothing, or forgets to undo",
    "misses": "how well what it did looks",
    "columns": [
        {
            "name": "edit_applied",
            "type": "bool",
            "title": "Edit made",
            "meaning": "whether the forward edit is visible",
            "headline": "edits",
        },
        {
            "name": "edit_undone",
            "type": "bool",
            "title": "Edit taken back",
            "meaning": "whether the return took it back",
            "headline": "edits",
        },
        {
            "name": "undo_ratio",
            "title": "Change left",
            "meaning": "change left in the edited region, as a share of the change made",
            "direction": "lower",
            "low": 0.0,
        },
    ],
    "reasons": {
        "no_change": ["not applicable", "one instruction that closes asks for no lasting change"],
        "not_an_undo": ["not applicable", "this step makes an edit and takes none back"],
        "not_a_forward": ["not applicable", "this step takes an edit back and makes none"],
        "whole_picture": ["not applicable", "a flip or rotation moves the whole picture"],
        "not_applied": ["editor", "the edit was not applied, so there is nothing to take back"],
        "round_incomplete": ["ours", "a picture of this round is missing"],
        "symmetric": ["nobody", "the picture looks too much like itself after the transform to tell"],
        "sharpness": ["nobody", "a change of sharpness is not seen on blurred cells"],
        "overlap": ["nobody", "another edit covers most of this one"],
    },
}
