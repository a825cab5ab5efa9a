"""A page to try ILNIQE on a picture."""

from convergebench.metric_modules._shared.page import alone_page, launch

demo = alone_page(
    __file__,
    "ilniqe",
    "ILNIQE",
    "How far is a picture from undamaged photographs, in contrast, edges and colours? There is no reference.",
)

if __name__ == "__main__":
    launch(demo)
