"""A page to try the normalised score gap on scores typed in by hand."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("nr_gap.py")))

EXAMPLE = """BRISQUE fog 34.1 20.2 4.5 -9.8
MUSIQ fog 71.2 66.0 58.3 49.9
NIQE fog 3.1 3.4 3.0 4.2
BRISQUE holi 18.0 22.4 31.5 40.2"""


def measure(text: str, clamp: bool) -> tuple[str, dict]:
    """The gaps as a table, and everything the metric gives."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    try:
        scores = [[None if word == "-" else float(word) for word in row[2:]] for row in rows]
        names, images = [row[0] for row in rows], [" ".join(row[1:2]) for row in rows]
        result = METRIC.compute(predictions=scores, metrics=names, images=images, clamp=clamp)
    except ValueError as error:
        raise gr.Error(str(error)) from error
    lines = ["| metric | image | step | gap | |", "|---|---|---:|---:|---|"]
    for each in result["gaps"]:
        gap = each["gap"]
        seen = "" if gap is None else "sees the damage" if gap < 0 else "misses it"
        lines.append(
            f"| {each['metric']} | {each['image']} | {each['step']} | {'' if gap is None else f'{gap:+.1f}'} | {seen} |"
        )
    return "\n".join(lines), result


with gr.Blocks(title="Normalised score gap") as demo:
    gr.Markdown("# Normalised score gap\nThe picture gets worse at every step. Does the metric see it?")
    with gr.Row():
        with gr.Column():
            text = gr.Textbox(
                EXAMPLE, lines=8, label="Scores", info="Metric, image, then its scores at steps 1, 5, 10 and 20."
            )
            clamp = gr.Checkbox(False, label="Bring scores outside the typical range to its ends")
            button = gr.Button("Measure", variant="primary")
        with gr.Column():
            table = gr.Markdown()
            everything = gr.JSON(label="Everything")
    button.click(measure, [text, clamp], [table, everything])
    demo.load(measure, [text, clamp], [table, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
