"""A page to try BRISQUE on a picture."""

from convergebench.metric_modules._shared.page import alone_page, launch

demo = alone_page(
    __file__,
    "brisque",
    "BRISQUE",
    "A score of visible damage that was learned from the opinions of people, without a reference.",
)

if __name__ == "__main__":
    launch(demo)
