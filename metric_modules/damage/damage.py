from convergebench.metric_modules._shared import picture_modules
from convergebench.metric_modules._shared.images import Pair
from convergebench.metric_modules._shared.networks import available_device
from convergebench.metric_modules.damage import measure
from convergebench.metric_modules.damage.spec import SPEC
from convergebench.metric_modules.lpips import weights
from convergebench.metric_modules.registration.align import anchors, locate


class Damage(picture_modules.PictureModule):
    """How much the worst part of a picture differs from its reference: LPIPS of the worst of 10 x 10 tiles, at a short
    side of 256, shift and scale undone if that shows less. Lower is nearer, 0 for identical pictures; from .25 on an
    eye calls a part lost, from .20 to .32 it may go either way."""

    spec, fields = SPEC, ("damage",)

    def fetch_weights(self) -> None:
        if not weights.path("alex").is_file():
            weights.fetch(nets=["alex"])

    def method(self, device: str = "cpu") -> tuple[picture_modules.Compare, dict]:
        model = measure.Scorer(available_device(device), "float32", {}).model

        def compare(batch: list[Pair]) -> list[picture_modules.Row]:
            rows: list[picture_modules.Row] = []
            for shown, original in batch:
                place = locate(anchors(original), shown)
                found = place if place.accepted and not place.still else None
                rows.append({"damage": measure.compare(model, measure.prepare(model, original), shown, found)[0]})
            return rows

        return compare, measure.signature(model)
