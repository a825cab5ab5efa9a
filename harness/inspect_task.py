"""ConvergeBench in Inspect: the task `convergebench/round_trip`, and every editor as the model `convergebench/NAME`.

A sample is a case of a suite: one picture, one program, one run. The solver runs the chain in the benchmark's own loop
and store, so that every paid answer is on disk before Inspect receives it: if a killed evaluation is started again, it
requests only the missing steps. The scorer gives the same numbers as `convergebench score`.
"""

import base64
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

import anyio.from_thread
import anyio.to_thread
from convergebench.generation import editors, pictures, plan, store, suites
from convergebench.generation.calls import Caller, Reply
from convergebench.generation.editors import Choice, Edits, editor_info, trait
from convergebench.generation.ledger import Budget, Ledger
from convergebench.generation.loop import Judge, Prepare, run_chain
from convergebench.generation.prepare import prepare_from
from convergebench.generation.records import Answer, Chain, Step, Turn, UserError
from convergebench.generation.scheduler import make_caller, require_ready
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo
from PIL import Image

from .kept_answer import KeptAnswer, answer_fields
from .one_chain import OneChainScorer

_CHAIN = "convergebench:chain"  # in a sample's store: the id of its chain
_Result = TypeVar("_Result")

# Called with every answer and its seconds before Inspect receives the answer.
_received: ContextVar[Callable[[Answer, float], None]] = ContextVar("received", default=lambda answer, seconds: None)


class EditorAPI(ModelAPI):
    """An editor of the benchmark as a model: a picture and an instruction go in, a picture comes out."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature that Inspect's providers have
        **options: object,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        words = [f"{key}={value}" for key, value in options.items()]
        words += [f"base_url={base_url}"] if base_url else []
        spec = model_name + ("," if ":" in model_name else ":") * bool(words) + ",".join(words)
        self.choice = editors.choose(spec)
        require_ready([self.choice])

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """One call of the editor, with the last user message."""
        instruction, data = _read_message(input[-1])
        if data is None:
            raise UserError(f"{self.model_name} edits pictures, but the last message has none; add a picture to it")
        picture, seed = pictures.decode(data), config.seed or 0
        history = [_turns_of(input[:-1])] if trait(self.choice.editor, "remembers") else []

        def call() -> Answer:
            started = time.monotonic()
            answer = self.choice.editor.edit(picture, instruction, seed, *history)
            _received.get()(answer, time.monotonic() - started)
            return answer

        return as_output(self.model_name, await _in_thread(call))

    async def count_tokens(self, input: str | list[ChatMessage], config: GenerateConfig | None = None) -> int:
        return 0  # calls are billed by picture; the default would download a tokenizer

    def max_connections(self) -> int:
        return self.choice.rates.get("concurrency", int(trait(self.choice.editor, "concurrency")))


@modelapi(name="convergebench")
def convergebench() -> type[ModelAPI]:
    """The provider of the models `convergebench/NAME`, registered with Inspect."""
    return EditorAPI


def _image(data: bytes) -> ContentImage:
    kind = {"jpg": "jpeg"}.get(sniffed := pictures.sniff(data), sniffed)
    return ContentImage(image=f"data:image/{kind};base64,{base64.b64encode(data).decode()}")


def _read_message(message: ChatMessage) -> tuple[str, bytes | None]:
    """The text of a message and the bytes of its last picture; None if it has no picture."""
    parts = [] if isinstance(message.content, str) else message.content
    images = [part.image for part in parts if isinstance(part, ContentImage)]
    return message.text, base64.b64decode(images[-1].partition(",")[2]) if images else None


def _turns_of(messages: Sequence[ChatMessage]) -> list[Turn]:
    """The conversation so far, in the form that editors with a memory take."""
    turns, instruction = [], ""
    for message in messages:
        text, data = _read_message(message)
        instruction = text if message.role == "user" else instruction
        if data is not None:
            turns.append(Turn(instruction, data, message.metadata or {}))
    return turns


def _user_message(instruction: str, data: bytes | None = None) -> ChatMessageUser:
    return ChatMessageUser(content=[ContentText(text=instruction), *([_image(data)] if data else [])])


def as_output(model: str, answer: Answer) -> ModelOutput:
    """An answer as Inspect's output: its bytes as received, and all other fields in the metadata."""
    words = answer.text or answer.reason
    content = [*([ContentText(text=words)] if words else []), *([_image(answer.data)] if answer.data else [])]
    output = ModelOutput.from_content(model, content, "content_filter" if answer.status == "refused" else "stop")
    output.metadata = answer_fields(answer) | {"data": bool(answer.data)}
    return output


def _as_answer(output: ModelOutput) -> Answer:
    """The answer that `as_output` turned into this output."""
    fields = dict(output.metadata or {})
    data = _read_message(output.message)[1] if fields.pop("data", False) else None
    return Answer(data or b"", **fields)


@dataclass(frozen=True)
class _EditorThroughInspect:
    """The editor for the loop, whose calls go through Inspect, with its events, limits and log."""

    editor: Edits
    generate: Callable[[list[ChatMessage], GenerateConfig], Coroutine[object, object, ModelOutput]]
    keep: Callable[[Answer, float], None]

    def __getattr__(self, name: str) -> object:  # for the traits, which are those of the editor
        return getattr(self.editor, name)

    def edit(self, image: Image.Image, instruction: str, seed: int, history: Sequence[Turn] = ()) -> Answer:
        messages: list[ChatMessage] = []
        for turn in history:
            messages.append(ChatMessageUser(content=turn.instruction))
            messages.append(ChatMessageAssistant(content=[_image(turn.data)], metadata=dict(turn.details)))
        messages.append(_user_message(instruction, pictures.encode_png(image)))
        token = _received.set(self.keep)
        try:
            return _as_answer(anyio.from_thread.run(self.generate, messages, GenerateConfig(seed=seed)))
        finally:
            _received.reset(token)


@dataclass(frozen=True)
class _ModelRun:
    """One model's chains, by sample id, and the limits that all its calls share."""

    choice: Choice
    chains: Mapping[str, Chain]
    caller: Caller
    prepared: Prepare


@dataclass
class _Runs:
    """The run of one task: a plan for each model, made once, and what all samples share."""

    suite: suites.Suite
    folder: Path
    max_cost: float | None
    metrics: Sequence[str] | None
    plans: dict[str, _ModelRun] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, model: Model) -> _ModelRun:
        """One model's plan, made at its first call."""
        if not isinstance(model.api, EditorAPI):
            raise UserError(f"{model} is not an editor of the benchmark; give --model convergebench/NAME")
        choice = model.api.choice
        with self.lock:
            if choice.label not in self.plans:
                self.plans[choice.label] = self._begin(choice)
            return self.plans[choice.label]

    def _begin(self, choice: Choice) -> _ModelRun:
        suite, editor = self.suite, choice.editor
        header = {"suite": suite.name, "suite_version": suite.version, "short_side": suite.short_side}
        store.open_run(self.folder, header, {choice.label: editor_info(choice)})
        for id in suite.sources:
            store.keep_source(self.folder, suite.source(id).sha256, suite.read(id))
        chains = {_case_id(chain): chain for chain in plan.make_plan(suite, [choice]).chains}
        paid = trait(editor, "price")() != 0
        budget = Budget(self.max_cost, ledger=Ledger(self.folder, store.cost_so_far(self.folder)) if paid else None)
        prepared = prepare_from(self.folder, {choice.label: trait(editor, "sizes")()})
        return _ModelRun(choice, chains, make_caller(choice, budget), prepared)

    @cached_property
    def scorer(self) -> OneChainScorer:
        return OneChainScorer(self.folder, [self.suite.source(id) for id in self.suite.sources], self.metrics)


@cache
def _runs_of(suite: str, out: str, max_cost: float | None, metrics: tuple[str, ...] | None) -> _Runs:
    """The only run with these arguments in this process; its samples share floors, limits and budget."""
    return _Runs(suites.load(suite), Path(out), max_cost, metrics)


@task
def round_trip(
    suite: str = "demo",
    out: str | None = None,
    max_cost: float | None = None,
    metrics: str | list[str] | None = None,
) -> Task:
    """Edit, undo, repeat: how many rounds does the picture keep?

    `suite` must have no variants. `out` is the run's folder, which `convergebench build` reads like any other.
    `max_cost` is in US dollars, for the whole run. `metrics` are names separated by commas.
    """
    loaded = suites.load(suite)
    if len(loaded.variants) > 1 or any(loaded.source(id).reference for id in loaded.sources):
        raise UserError(f"suite {suite!r} has variants or reference pictures; run it with `convergebench generate`")
    folder = out or f"runs/inspect-{loaded.name}"
    names = metrics.split(",") if isinstance(metrics, str) else metrics
    samples = [
        _sample_of(Chain(source, program, "", {"short_side": loaded.short_side}, run, loaded.rounds))
        for source, program in suites.cases(loaded)
        for run in range(1, loaded.runs + 1)
        if program.closes
    ]
    return Task(
        dataset=MemoryDataset(samples, name=f"convergebench-{loaded.name}-{loaded.version}"),
        solver=edit_and_undo(suite, folder, max_cost, names),
        scorer=rounds_kept(suite, folder, max_cost, names),
        version=loaded.version,
        metadata={"suite": loaded.name, "suite_version": loaded.version, "short_side": loaded.short_side},
    )


def _case_id(chain: Chain) -> str:
    return f"{chain.source.id}.{chain.program.id}.{chain.run}"


def _sample_of(chain: Chain) -> Sample:
    program = chain.program
    metadata = {"source": chain.source.id, "program": program.id, "run": chain.run, "rounds": chain.rounds}
    metadata |= {"category": program.category, "kind": chain.source.kind, "cycle": list(program.cycle)}
    text = f"{'; '.join(program.cycle)} ({chain.rounds} times)"
    return Sample(input=text, id=_case_id(chain), metadata=metadata)


@solver
def edit_and_undo(suite: str, out: str, max_cost: float | None = None, metrics: list[str] | None = None) -> Solver:
    """Run the sample's chain through all its rounds, from the last stored step on."""
    runs = _runs_of(suite, out, max_cost, tuple(metrics) if metrics else None)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        model_run = await _in_thread(lambda: runs.of(model))
        chain, caller = model_run.chains[str(state.sample_id)], model_run.caller
        saved = KeptAnswer(runs.folder, chain.id)

        async def call(messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
            return await model.generate(messages, config=config)

        def keep(answer: Answer, seconds: float) -> None:
            saved.keep(caller.with_cost(answer, 0.0), seconds)

        def ask(call: Callable[[], Answer], judge: Judge) -> Reply:
            """Call the editor, unless a killed evaluation has saved this answer: it is already paid for."""
            if answer := saved.read():
                return caller.judged(Reply(*answer, attempts=1), judge)
            return caller.ask(call, judge)

        def run() -> list[tuple[Step, bytes]]:
            if not store.is_done(runs.folder, chain.id):
                editor = _EditorThroughInspect(model_run.choice.editor, call, keep)
                run_chain(chain, editor, runs.folder, model_run.prepared, ask, lambda chain, step: saved.forget())
            folder = runs.folder / "chains" / chain.id
            steps = store.parse_steps(folder / "steps.jsonl", (folder / "steps.jsonl").read_bytes())
            return [(step, (folder / step.file).read_bytes() if step.file else b"") for step in steps]

        steps = await _in_thread(run)
        state.messages = _conversation(steps)
        state.output = ModelOutput.from_content(str(model), steps[-1][0].reason or steps[-1][0].status)
        state.store.set(_CHAIN, chain.id)
        state.completed = True
        return state

    return solve


async def _in_thread(work: Callable[[], _Result]) -> _Result:
    return await anyio.to_thread.run_sync(work, limiter=anyio.CapacityLimiter(1))


def _conversation(steps: Sequence[tuple[Step, bytes]]) -> list[ChatMessage]:
    """The whole chain as messages: the input, then each instruction and its answer."""
    messages: list[ChatMessage] = [_user_message("the original, as prepared for the editor", steps[0][1])]
    for step, data in steps[1:]:
        messages.append(_user_message(f"round {step.round}: {step.instruction}"))
        words = ContentText(text=step.text or step.reason or step.status)
        metadata = {"step": step.step, "status": step.status, "sha256": step.sha256, "cost": step.cost}
        content = [words, *([_image(data)] if data else [])]
        messages.append(ChatMessageAssistant(content=content, metadata=metadata))
    return messages


_PER_SOURCE = [mean(), stderr(cluster="source")]


@scorer(metrics={"rounds_kept": _PER_SOURCE, "survived": _PER_SOURCE})
def rounds_kept(suite: str, out: str, max_cost: float | None = None, metrics: list[str] | None = None) -> Scorer:
    """The rounds before the first loss, and all scores of all steps as `convergebench score` computes them."""
    runs = _runs_of(suite, out, max_cost, tuple(metrics) if metrics else None)

    async def score(state: TaskState, target: Target) -> Score:
        model_run = await _in_thread(lambda: runs.of(get_model()))
        role, id = trait(model_run.choice.editor, "role"), str(state.store.get(_CHAIN))
        rows, outcome = await _in_thread(lambda: runs.scorer.score(id, runs.suite.name, runs.suite.version, role))
        metadata = {"chain": id, "steps": rows}
        if outcome is None:
            return Score.unscored(explanation="too many unrelated pictures look like this one", metadata=metadata)
        value = {"rounds_kept": float(outcome.kept), "survived": float(not outcome.lost)}
        explanation = f"lost in round {outcome.lost_at}: {outcome.cause}" if outcome.lost else "nothing was lost"
        return Score(value=value, answer=str(outcome.kept), explanation=explanation, metadata=metadata)

    return score
