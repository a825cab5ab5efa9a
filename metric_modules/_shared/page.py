"""The demo page of a metric: its inputs, a button, a headline, and everything that the metric returns."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import evaluate
import gradio as gr

_Result = dict  # of a metric's `compute`
SIZES = [("they have one size", ""), ("bring the answer to the original's size", "reference")]


def picture(label: str) -> gr.Image:
    """A picture by the path of its file, in the mode the file has: the metric reads the bytes as they were uploaded."""
    return gr.Image(type="filepath", image_mode=None, sources=["upload", "clipboard"], label=label, render=False)


def numbers(text: str) -> list[list[float | None]]:
    """One list of numbers for each line; `-` stands for a missing number."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    return [[None if word == "-" else float(word) for word in line] for line in lines]


def page(
    app: str,
    name: str,
    title: str,
    question: str,
    inputs: Sequence[gr.components.Component],
    compute: Callable[..., _Result],
    headline: Callable[[_Result], str],
    example: Callable[[], Sequence[object]] | None = None,
) -> gr.Blocks:
    """The page of the module `name` in the folder of the file `app`.

    `compute` is called with the metric and the values of the inputs. A page whose inputs have initial values computes
    when it opens; `example` returns the initial pictures.
    """
    metric = evaluate.load(str(Path(app).with_name(f"{name}.py")))
    pictures = [component for component in inputs if isinstance(component, gr.Image)]

    def measure(*values: object) -> tuple[str, _Result]:
        """The headline in words, and everything the metric returns."""
        if any(value is None for value, component in zip(values, inputs, strict=True) if component in pictures):
            raise gr.Error(f"Give every picture: {', '.join(str(component.label) for component in pictures)}.")
        try:
            result = compute(metric, *values)
        except (TypeError, ValueError, OSError) as error:
            raise gr.Error(str(error)) from error
        return headline(result), result

    with gr.Blocks(title=title) as demo:
        gr.Markdown(f"# {title}\n{question}")
        with gr.Row():
            with gr.Column():
                for component in inputs:
                    component.render()
                button = gr.Button("Measure", variant="primary")
            with gr.Column():
                outputs = [gr.Markdown(), gr.JSON(label="Everything")]
        button.click(measure, inputs, outputs)
        if example:
            demo.load(example, None, pictures).then(measure, inputs, outputs)
        elif not pictures:
            demo.load(measure, inputs, outputs)
    return demo


def pair_page(
    app: str,
    name: str,
    title: str,
    question: str,
    headline: Callable[[_Result], str],
    options: Mapping[str, gr.components.Component] | None = None,
) -> gr.Blocks:
    """The page of a module that compares an answer with an original; `options` are further inputs, by option."""
    options = options or {}
    size = gr.Dropdown(SIZES, value="reference", label="Sizes", render=False)

    def compute(metric: evaluate.Metric, original: str, answer: str, size: str, *chosen: object) -> _Result:
        kwargs = dict(zip(options, chosen, strict=True))
        return metric.compute(predictions=[answer], references=[original], size=size or None, **kwargs)

    inputs = [picture("Original"), picture("Answer"), size, *options.values()]
    return page(app, name, title, question, inputs, compute, headline)


def alone_page(app: str, name: str, title: str, question: str, digits: int = 2) -> gr.Blocks:
    """The page of a module that judges a picture on its own."""
    return page(
        app,
        name,
        title,
        question,
        [picture("Picture")],
        lambda metric, shown: metric.compute(predictions=[shown]),
        lambda result: f"## {title} {result[name]:.{digits}f}, lower is better",
    )


def launch(demo: gr.Blocks) -> None:
    """Serve the page."""
    demo.launch(theme=gr.themes.Soft())
