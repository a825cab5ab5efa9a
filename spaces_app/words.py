"""The words of all pages, tables and files: one thing has one name. `docs/words.md` is written from this table."""

# A column of the results, by its name in files: its title, and what it means.
COLUMNS = {
    "editor": ("Editor", "The image editor that was tested."),
    "rank": (
        "#",
        "One more than the number of editors that are better beyond chance, with the range that chance allows.",
    ),
    "rounds_kept": ("Rounds survived", "How many rounds a picture survives, on average over all tests."),
    "cost": ("Cost a round", "What one round of edit and undo costs, in US dollars."),
    "seconds": ("Time a round", "How long one round of edit and undo takes, in seconds."),
    "cause": ("Main cause of failure", "The most common reason for which tests failed, and of how many tests."),
    "survival": ("Survived all rounds", "The share of tests that survived every round."),
    "half_life_text": ("Half-life", "The round by which half of the tests had failed."),
    "restricted_mean": ("Restricted mean", "The area under the survival curve, in rounds."),
    "rounds_kept_two_way": ("Rounds survived, any program", "The same; the range also holds for other programs."),
    "quality_text": ("Rounds until quality halves", "The median round in which half of the quality is gone."),
    "meaning_text": (
        "Rounds until meaning halves",
        "The median round in which half of the CLIP similarity is gone.",
    ),
    "undecided": (
        "Undecided",
        "The share of tests that would end in another round if values near a limit counted.",
    ),
    "kept_if_kept": ("Rounds survived at most", "Rounds survived if every undecided round counts as survived."),
    "kept_if_lost": ("Rounds survived at least", "Rounds survived if every undecided round counts as lost."),
    "place_if_kept": ("Place at most", "The place by the mean if every undecided round counts as survived."),
    "place_if_lost": ("Place at least", "The place by the mean if every undecided round counts as lost."),
    "forward": (
        "Something changed",
        "The share of rounds in which an area changed when an edit was asked for, whatever it shows.",
    ),
    "as_asked": ("As asked", "The share of rounds of which a check of the words says that they were followed."),
    "not_as_asked": (
        "Not as asked",
        "The share of rounds of which a check of the words says that they were not.",
    ),
    "refused": ("Refused", "The share of tests that the editor refused."),
    "failed": ("Missing", "The share of tests that a technical failure ended."),
    "cases": ("Tests", "One test is one picture with one program."),
    "sources": ("Pictures", "How many different pictures were used."),
    "apart": ("Listed apart because", "Why this editor has no rank."),
}
OTHERS = {
    "Round": "One request for a change and one to undo it; of copies, one copy; of restorations, one pass.",
    "Kept": "Retained quality: 100% for an identical picture, 0% for an unrelated one; the worst of RMSE, SSIM "
    "and LPIPS. It is never the share that was lost.",
    "Fails": "A test stops at its first failure: no edit, no undo, quality or one area lost, or a refusal.",
    "Failure threshold": "The retained quality below which a test fails; 50% unless a reader chooses another.",
    "Range": "A 95% confidence interval across pictures: what other pictures would give.",
    "No verdict": "Fewer than 12 shared pictures, or no difference beyond chance: nobody is called best.",
    "Baseline": "A program that shows the best or the worst possible score; it has no rank.",
    "Perfect undo": "The baseline `oracle`, which remembers the original.",
    "No edit": "The baseline `identity`, which returns its input.",
    "Original": "The picture that all others are compared with; of restorations, the clean picture.",
}
