"""A page to try contraction on distances typed in by hand."""

import gradio as gr
from convergebench.metric_modules._shared.page import launch, numbers, page

_MSE = """9.0 21.2 31.9 40.1 46.0 50.2 53.0 55.0 56.3 57.2 57.8 58.2
7.3 18.1 28.8 37.0 43.5 48.1 51.2 53.4 54.9 56.0 56.7 57.2"""
_STEPS = """3.0 1.7 1.1 0.7 0.45 0.30 0.20 0.13 0.09 0.06 0.04 0.027
2.7 1.6 1.1 0.72 0.50 0.34 0.22 0.15 0.10 0.07 0.05 0.033"""


def headline(result: dict) -> str:
    """Factor, growth and shape in words."""
    q = "q is not known" if result["q"] is None else f"q = {result['q']:.2f}"
    power = "" if result["growth_exponent"] is None else f", MSE grows as n^{result['growth_exponent']:.2f}"
    return f"## {q}{power}, shape: {result['shape'] or 'not known'}"


demo = page(
    __file__,
    "contraction",
    "Contraction",
    "Does every round move the picture less than the one before?",
    [
        gr.Textbox(_MSE, lines=4, label="MSE against the reference, one chain a line", render=False),
        gr.Textbox(_STEPS, lines=4, label="RMSE to the return before, one chain a line", render=False),
    ],
    lambda metric, mse, steps: metric.compute(predictions=numbers(mse), steps=numbers(steps) or None),
    headline,
)

if __name__ == "__main__":
    launch(demo)
