"""A page to try half-life on curves typed in by hand."""

from pathlib import Path

import evaluate
import gradio as gr

METRIC = evaluate.load(str(Path(__file__).with_name("halflife.py")))

EXAMPLE = """photo 1: 0.97 0.93 0.88 0.80 0.71 0.63 0.56 0.51 0.47 0.44 0.41 0.39
photo 1: 0.95 0.90 0.84 0.79 0.72 0.66 0.60 0.57 0.53 0.52 0.51 0.51
photo 2: 0.96 0.88 0.75 0.61 0.48 0.37 0.30 0.26 0.22 0.20 0.19 0.18
photo 3: 0.98 0.94 0.90 - 0.81 0.77 0.74 0.71 0.69 0.66 0.64 0.62
photo 3: 0.94 0.87 0.73 0.60 refused"""


def parse(text: str) -> tuple[list[list[float | None]], list[str], list[str]]:
    """Curves, sources and ends from lines such as `photo 1: 0.9 - 0.7 refused`."""
    curves, sources, ends = [], [], []
    for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
        source, _, values = line.rpartition(":")
        words = values.split()
        ends.append(words.pop() if words and words[-1].isalpha() else "complete")
        curves.append([None if word == "-" else number_in(word, number) for word in words])
        sources.append(source.strip() or f"line {number}")
    return curves, sources, ends


def number_in(word: str, line: int) -> float:
    """The number that a word is; otherwise one sentence that names the line."""
    try:
        return float(word)
    except ValueError:
        raise ValueError(
            f"line {line} holds {word!r}, which is no number; write a source, a colon, and a number or - for each round"
        ) from None


def measure(text: str, scale: str, threshold: float, better: str) -> tuple[str, dict]:
    """The headline in words, and everything the metric gives."""
    try:
        curves, sources, ends = parse(text)
        result = METRIC.compute(
            predictions=curves, clusters=sources, ends=ends, scale=scale, threshold=threshold, better=better
        )
    except ValueError as error:
        raise gr.Error(str(error)) from error
    limits = result["half_life_interval"]
    range_of = "" if limits is None else f" (95% interval {limits[0]} to {limits[1] or 'past the end'})"
    return f"## Half-life: {result['half_life_text']}{range_of}", result


with gr.Blocks(title="Half-life") as demo:
    gr.Markdown("# Half-life\nAfter how many rounds of editing is half of the chains past the threshold?")
    with gr.Row():
        with gr.Column():
            curves = gr.Textbox(
                EXAMPLE,
                lines=8,
                label="Curves",
                info="One chain a line: its source, a colon, one value per round; - where there is none; "
                "refused, shrunk, no_image or failed where it ended early.",
            )
            scale = gr.Radio(["retained", "absolute"], value="retained", label="Scale")
            threshold = gr.Number(0.5, label="Threshold")
            better = gr.Radio(["higher", "lower"], value="higher", label="Better is")
            button = gr.Button("Measure", variant="primary")
        with gr.Column():
            headline = gr.Markdown()
            everything = gr.JSON(label="Everything")
    inputs = [curves, scale, threshold, better]
    button.click(measure, inputs, [headline, everything])
    demo.load(measure, inputs, [headline, everything])

if __name__ == "__main__":
    demo.launch(theme=gr.themes.Soft())
