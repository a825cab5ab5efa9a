"""A page to try NIQE on a picture."""

from convergebench.metric_modules._shared.page import alone_page, launch

demo = alone_page(
    __file__,
    "niqe",
    "NIQE",
    "How far is a picture from undamaged photographs? There is no reference.",
)

if __name__ == "__main__":
    launch(demo)
