"""A page to try registration on two pictures of your own."""

import numpy as np
from convergebench.metric_modules._shared.page import launch, page, picture


def example() -> tuple[np.ndarray, np.ndarray]:
    """A picture of soft coloured patches, and the same moved by nine pixels to the right and four up."""
    patches = np.random.default_rng(7).uniform(30, 225, (48, 48, 3))
    picture = np.kron(patches, np.ones((8, 8, 1)))
    soft = np.mean([np.roll(picture, (down, right), (0, 1)) for down in range(-3, 4) for right in range(-3, 4)], axis=0)
    return soft.astype(np.uint8), np.roll(soft, (-4, 9), (0, 1)).astype(np.uint8)


def _headline(result: dict) -> str:
    """Shift and scale in words."""
    if result["scale"] is None:
        return f"## No move can be measured: {result['reasons'][0]['scale']}"
    across, down = result["shift_x"], result["shift_y"]
    move = (
        f"{abs(across):.1f} px {'right' if across > 0 else 'left'}, {abs(down):.1f} px {'down' if down > 0 else 'up'}"
    )
    return f"## Moved {move}, scale {result['scale']:.4f}; moved back, PSNR is {result['psnr']:.1f} dB"


demo = page(
    __file__,
    "registration",
    "Registration",
    "How far has a picture moved, and how near is it to its reference once moved back?",
    [picture("Reference"), picture("Prediction")],
    lambda metric, reference, prediction: metric.compute(
        references=[reference], predictions=[prediction], size="reference"
    ),
    _headline,
    example,
)

if __name__ == "__main__":
    launch(demo)
