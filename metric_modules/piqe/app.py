"""A page to try PIQE on a picture."""

from convergebench.metric_modules._shared.page import alone_page, launch

demo = alone_page(
    __file__,
    "piqe",
    "PIQE",
    "The share of a picture's busy blocks that are visibly impaired or noisy, without a reference.",
)

if __name__ == "__main__":
    launch(demo)
