"""The web page of a metric's Space: its card, its inputs, and everything that it returns.

Published metrics contain this file as app.py, with a last line that calls `run`.
"""

import functools
import inspect
import json
import textwrap
from pathlib import Path

import evaluate
import gradio as gr


def run(name: str) -> gr.Blocks:
    """Show the `evaluate` module in this file's folder, with its `example` filled in."""
    module = Path(__file__).with_name(name)
    metric = evaluate.load(str(module))
    names = [name for name, kind in metric.features.items() if type(kind).__name__ == "Image"]
    measure = functools.partial(_measure, metric, names)
    card = module.with_name("README.md").read_text(encoding="utf-8").split("---\n", 2)[-1]
    title, _, rest = card.strip().partition("\n")
    with gr.Blocks(title=title.strip("# ")) as demo:
        gr.Markdown(title)
        with gr.Row():
            with gr.Column():
                # Gradio must not convert the picture: the metric reads the file as it was uploaded.
                upload = {"type": "filepath", "image_mode": None, "sources": ["upload", "clipboard"]}
                files = [gr.Image(label=name, **upload) for name in names]
                example = json.dumps(metric.example).replace('], "', '],\n "')
                inputs = [gr.Textbox(example, lines=4, label="Arguments"), *files]
                button = gr.Button("Measure", variant="primary")
            with gr.Column():
                outputs = [gr.Markdown(), gr.JSON(label="Everything")]
        gr.Markdown(rest)
        button.click(measure, inputs, outputs)
        if not names:
            demo.load(measure, inputs, outputs)
    if __name__ == "__main__":
        demo.launch(theme=gr.themes.Soft())
    return demo


def _measure(metric: evaluate.Metric, names: list[str], arguments: str, *files: str | None) -> tuple[str, dict]:
    if None in files:
        raise gr.Error(f"Give every picture: {', '.join(names)}.")
    try:
        inputs = json.loads(arguments) | {name: [file] for name, file in zip(names, files, strict=True)}
        if fetch := getattr(metric, "fetch_weights", None):
            fetch(**{name: inputs[name] for name in inspect.signature(fetch).parameters if name in inputs})
        result = metric.compute(**inputs)
    except (TypeError, ValueError, OSError) as error:
        raise gr.Error(str(error)) from error
    return _table(result), result


def _table(result: dict) -> str:
    rows = [
        f"| {name} | {textwrap.shorten(value if isinstance(value, str) else json.dumps(value), 80)} |"
        for name, value in result.items()
        if value is not None and name != "signature"
    ]
    return "\n".join(["| result | value |", "|---|---|", *rows])
