"""A page to try PSNR on two pictures."""

from convergebench.metric_modules._shared.page import launch, pair_page

demo = pair_page(
    __file__,
    "psnr",
    "PSNR",
    "How far are the answer's pixels from the original's?",
    lambda result: f"## PSNR {result['psnr']:.2f} dB, RMSE {result['rmse']:.2f} grey levels",
)

if __name__ == "__main__":
    launch(demo)
