"""The spec of steering, read by the scoring engine, the card, the report and the Space."""

SPEC = {
    "name": "steering",
    "title": "Steering to a goal",
    "kind": "round",
    "study": "exact",
    "order": 81,
    "sees": "how far a drawn thing is from what a simulated user wants, and what else was damaged on the way",
    "misses": "any program but those of the suite steer; how well the rest is drawn",
    "columns": [
        {
            "name": "steer_arrived",
            "type": "bool",
            "title": "Arrived",
            "meaning": "steering: whether the simulated user is satisfied with this picture",
        },
        {
            "name": "steer_before",
            "title": "Distance before",
            "meaning": "steering: how far from the goal the thing was before the step, in tolerances",
            "direction": "lower",
            "low": 0.0,
        },
        {
            "name": "steer_distance",
            "title": "Distance to the goal",
            "meaning": "steering: how far from the goal the thing is after the step, in tolerances",
            "direction": "lower",
            "low": 0.0,
            "show": "number",
        },
        {
            "name": "steer_damage",
            "title": "Damage on the way",
            "meaning": "steering: the share of the picture that the largest other region that changed covers",
            "direction": "lower",
            "low": 0.0,
            "high": 1.0,
        },
    ],
    "reasons": {
        "no_goal": ["not applicable", "no simulated user steers this program"],
        "thing_gone": ["editor", "the thing that is steered is nowhere in the picture"],
        "no_step": ["ours", "a picture of this step is missing"],
    },
}
