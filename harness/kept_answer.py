"""An answer saved on disk before Inspect receives it, because Inspect may be killed before the chain's store has it.

RUN/answers/CHAIN.json    the answer to a chain's next step, until that step is stored
"""

import base64
import json
from dataclasses import dataclass
from pathlib import Path

from convergebench.generation.files import UNFINISHED, write_whole
from convergebench.generation.records import Answer, canonical


def answer_fields(answer: Answer) -> dict[str, object]:
    """An answer without its bytes, as JSON values."""
    fields = {"status": answer.status, "reason": answer.reason, "text": answer.text, "cost": answer.cost}
    return {**fields, "details": dict(answer.details)}


@dataclass(frozen=True)
class KeptAnswer:
    """The saved answer to the next step of one chain; at most one, because steps run one after the other."""

    run: Path
    chain: str

    @property
    def path(self) -> Path:
        return self.run / "answers" / f"{self.chain}.json"

    def next_step(self) -> int:
        """The first step that is not stored: the input is step 0."""
        return (self.run / "chains" / self.chain / "steps.jsonl").read_bytes().count(b"\n")

    def keep(self, answer: Answer, seconds: float) -> None:
        """Save an answer, from which keys were already removed."""
        self.path.parent.mkdir(exist_ok=True)
        fields = answer_fields(answer) | {"data": base64.b64encode(answer.data).decode()}
        write_whole(self.path, canonical({"step": self.next_step(), "seconds": seconds, "answer": fields}).encode())

    def read(self) -> tuple[Answer, float] | None:
        """The answer and its seconds; None if there is none, or if its step has been stored since."""
        if not self.path.exists():
            return None
        saved = json.loads(self.path.read_bytes())
        if saved["step"] != self.next_step():
            return None
        fields = saved["answer"]
        return Answer(base64.b64decode(fields.pop("data")), **fields), saved["seconds"]

    def forget(self) -> None:
        """Remove the answer, whose step is now stored, and unfinished files of killed processes."""
        self.path.unlink(missing_ok=True)
        for path in self.path.parent.glob(f".{self.path.name}.*{UNFINISHED}"):
            path.unlink(missing_ok=True)
