"""ConvergeBench in Inspect: the task `convergebench/round_trip`, and every editor as the model `convergebench/NAME`.

A sample is a case of a suite: one picture, one program, one run. Its solver takes the chain through the benchmark's own
loop and store, so that what was paid for is on disk before Inspect knows of it: a killed evaluation that is tried again
asks only for the steps that are not there. Its scorer gives the numbers of `convergebench score`.
"""

import base64
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import anyio.from_thread
import anyio.to_thread
from convergebench.generation import editors, pictures, plan, store, suites
from convergebench.generation.calls import Reply
from convergebench.generation.editors import Choice, editor_info, trait
from convergebench.generation.ledger import Budget, Ledger
from convergebench.generation.loop import Judge, run_chain
from convergebench.generation.prepare import prepare_from
from convergebench.generation.records import Answer, Chain, Setting, Step, Turn, UserError
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

from .kept_answer import KeptAnswer
from .one_chain import OneChainScorer

MIME = {"jpg": "jpeg"}
MANY = 10_000  # threads that may wait at once: how many calls are made is the caller's to limit
CHAIN = "convergebench:chain"  # in a sample's store: the id of its chain

# What is done with an answer and its seconds as soon as it is there, before Inspect is told of it.
received: ContextVar[Callable[[Answer, float], None]] = ContextVar("received", default=lambda answer, seconds: None)


class EditorAPI(ModelAPI):
    """An editor of the benchmark as a model: a picture and an instruction go in, a picture comes out."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as every provider has it
        **options: Any,
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
        instruction, data = read_message(input[-1])
        if data is None:
            raise UserError(f"{self.model_name} edits pictures, and the last message holds none")
        picture, seed = pictures.decode(data), config.seed or 0
        history = [turns_of(input[:-1])] if trait(self.choice.editor, "remembers") else []

        def call() -> Answer:
            started = time.monotonic()
            answer = self.choice.editor.edit(picture, instruction, seed, *history)
            received.get()(answer, time.monotonic() - started)
            return answer

        answer = await anyio.to_thread.run_sync(call, limiter=anyio.CapacityLimiter(1))
        return as_output(self.model_name, answer)

    async def count_tokens(self, input: str | list[ChatMessage], config: GenerateConfig | None = None) -> int:
        return 0  # pictures are paid for, not tokens; the default would fetch a tokenizer

    def max_connections(self) -> int:
        return self.choice.rates.get("concurrency", int(trait(self.choice.editor, "concurrency")))


@modelapi(name="convergebench")
def convergebench() -> type[ModelAPI]:
    """What Inspect finds as the provider of `convergebench/NAME`."""
    return EditorAPI


def as_uri(data: bytes) -> str:
    kind = pictures.sniff(data)
    return f"data:image/{MIME.get(kind, kind)};base64,{base64.b64encode(data).decode()}"


def read_message(message: ChatMessage) -> tuple[str, bytes | None]:
    """The words and the picture of a message, its bytes as they were put there."""
    parts = [] if isinstance(message.content, str) else message.content
    images = [part.image for part in parts if isinstance(part, ContentImage)]
    data = base64.b64decode(images[-1].partition(",")[2]) if images else None
    return message.text, data


def turns_of(messages: Sequence[ChatMessage]) -> list[Turn]:
    """The conversation so far, as editors that remember are handed it."""
    turns, words = [], ""
    for message in messages:
        text, data = read_message(message)
        if message.role == "user":
            words = text
        if data is not None:
            turns.append(Turn(words, data, message.metadata or {}))
    return turns


def as_output(model: str, answer: Answer) -> ModelOutput:
    """An answer as Inspect keeps it: its bytes as received, and in the metadata what else came with them."""
    about = {"status": answer.status, "reason": answer.reason, "text": answer.text, "cost": answer.cost}
    content: list[Any] = [ContentText(text=answer.text or answer.reason)] if answer.text or answer.reason else []
    if answer.data:
        content.append(ContentImage(image=as_uri(answer.data)))
    output = ModelOutput.from_content(model, content, "content_filter" if answer.status == "refused" else "stop")
    output.metadata = about | {"details": dict(answer.details), "data": bool(answer.data)}
    return output


def as_answer(output: ModelOutput) -> Answer:
    """The same answer again."""
    about = dict(output.metadata or {})
    data = read_message(output.message)[1] if about.pop("data", False) else None
    return Answer(data or b"", **about)


@dataclass(frozen=True)
class AskedThroughInspect:
    """The model as the loop's editor: each call is one of Inspect's, with its event, its limits and its log."""

    editor: Any
    generate: Callable[[list[ChatMessage], GenerateConfig], Any]
    keep: Callable[[Answer, float], None]

    def __getattr__(self, name: str) -> Any:  # the traits are the editor's own
        return getattr(self.editor, name)

    def edit(self, image: Image.Image, instruction: str, seed: int, history: Sequence[Turn] = ()) -> Answer:
        messages: list[ChatMessage] = []
        for turn in history:
            messages.append(ChatMessageUser(content=turn.instruction))
            picture = ContentImage(image=as_uri(turn.data))
            messages.append(ChatMessageAssistant(content=[picture], metadata=dict(turn.details)))
        messages.append(user_message(instruction, pictures.encode_png(image)))
        token = received.set(self.keep)
        try:
            return as_answer(anyio.from_thread.run(self.generate, messages, GenerateConfig(seed=seed)))
        finally:
            received.reset(token)


def user_message(instruction: str, data: bytes | None) -> ChatMessageUser:
    image = [ContentImage(image=as_uri(data))] if data else []
    return ChatMessageUser(content=[ContentText(text=instruction), *image])


@dataclass
class Runs:
    """The run of one task: its plan for each model, made once, and what all its samples share."""

    suite: suites.Suite
    folder: Path
    max_cost: float | None
    metrics: Sequence[str] | None
    plans: dict[str, "ModelRun"] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, model: Model) -> "ModelRun":
        """What belongs to one model."""
        if not isinstance(model.api, EditorAPI):
            raise UserError(f"{model} is no editor of the benchmark; give --model convergebench/NAME")
        choice = model.api.choice
        with self.lock:
            if choice.label not in self.plans:
                self.plans[choice.label] = self.begin(choice)
            return self.plans[choice.label]

    def begin(self, choice: Choice) -> "ModelRun":
        about = {"suite": self.suite.name, "suite_version": self.suite.version, "short_side": self.suite.short_side}
        store.open_run(self.folder, about, {choice.label: editor_info(choice)})
        for id in self.suite.sources:
            store.keep_source(self.folder, self.suite.source(id).sha256, self.suite.read(id))
        chains = {case_id(chain): chain for chain in plan.make_plan(self.suite, [choice]).chains}
        paid = trait(choice.editor, "price")() != 0
        budget = Budget(self.max_cost, ledger=Ledger(self.folder, store.cost_so_far(self.folder)) if paid else None)
        prepared = prepare_from(self.folder, {choice.label: trait(choice.editor, "sizes")()})
        return ModelRun(choice, chains, make_caller(choice, budget), prepared)

    @cached_property
    def scorer(self) -> OneChainScorer:
        return OneChainScorer(self.folder, [self.suite.source(id) for id in self.suite.sources], self.metrics)


@dataclass(frozen=True)
class ModelRun:
    """One model's chains by the ids of their samples, and the limits that all its calls share."""

    choice: Choice
    chains: Mapping[str, Chain]
    caller: Any
    prepared: Any


@cache
def runs_of(suite: str, out: str, max_cost: float | None, metrics: tuple[str, ...] | None) -> Runs:
    """The one run of these words in this process: its samples share floors, limits and money."""
    return Runs(suites.load(suite), Path(out), max_cost, metrics)


@task
def round_trip(
    suite: str = "demo",
    out: str | None = None,
    max_cost: float | None = None,
    metrics: str | list[str] | None = None,
) -> Task:
    """Edit, undo, repeat: how many rounds does the picture keep?

    `suite` is one without variants. `out` is the folder of the run, which `convergebench build` reads as any other;
    `max_cost` is in US dollars, for the whole of it, `metrics` are names separated by commas.
    """
    loaded = suites.load(suite)
    if len(loaded.variants) > 1 or any(loaded.source(id).reference for id in loaded.sources):
        raise UserError(f"suite {suite!r} has variants or references of its own; `convergebench generate` runs it")
    folder = out or f"runs/inspect-{loaded.name}"
    names = metrics.split(",") if isinstance(metrics, str) else metrics
    words = {"suite": suite, "out": folder, "max_cost": max_cost, "metrics": names}
    samples = [sample_of(chain) for chain in cases_of(loaded)]
    return Task(
        dataset=MemoryDataset(samples, name=f"convergebench-{loaded.name}-{loaded.version}"),
        solver=edit_and_undo(**words),
        scorer=rounds_kept(**words),
        version=loaded.version,
        metadata={"suite": loaded.name, "suite_version": loaded.version, "short_side": loaded.short_side},
    )


def cases_of(suite: suites.Suite) -> list[Chain]:
    """Every case whose program closes, as a chain of no editor."""
    settings: dict[str, Setting] = {"short_side": suite.short_side}
    return [
        Chain(source, program, "", settings, run, suite.rounds)
        for source, program in suites.cases(suite)
        for run in range(1, suite.runs + 1)
        if program.closes
    ]


def case_id(chain: Chain) -> str:
    return f"{chain.source.id}.{chain.program.id}.{chain.run}"


def sample_of(chain: Chain) -> Sample:
    program = chain.program
    about = {"source": chain.source.id, "program": program.id, "run": chain.run, "rounds": chain.rounds}
    about |= {"category": program.category, "kind": chain.source.kind, "cycle": list(program.cycle)}
    return Sample(input=f"{'; '.join(program.cycle)} ({chain.rounds} times)", id=case_id(chain), metadata=about)


@solver
def edit_and_undo(suite: str, out: str, max_cost: float | None = None, metrics: list[str] | None = None) -> Solver:
    """Take the sample's chain through all its rounds, from the last step that is stored."""
    runs = runs_of(suite, out, max_cost, tuple(metrics) if metrics else None)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        mine = await in_thread(lambda: runs.of(model))
        chain = mine.chains[str(state.sample_id)]

        async def call(messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
            return await model.generate(messages, config=config)

        kept = KeptAnswer(runs.folder, chain.id)

        def keep(answer: Answer, seconds: float) -> None:
            kept.keep(mine.caller.with_cost(answer, 0.0), seconds)

        def ask(call: Callable[[], Answer], judge: Judge) -> Reply:
            """Ask, unless the answer came before the evaluation was killed: that one is paid for."""
            if there := kept.read():
                return mine.caller.judge_reply(Reply(*there, attempts=1), judge)
            return mine.caller.ask(call, judge)

        def run() -> list[tuple[Step, bytes]]:
            if not store.is_done(runs.folder, chain.id):
                asked = AskedThroughInspect(mine.choice.editor, call, keep)
                run_chain(chain, asked, runs.folder, mine.prepared, ask, lambda chain, step: kept.forget())
            return stored_steps(runs.folder, chain)

        steps = await in_thread(run)
        state.messages = conversation(steps)
        state.output = ModelOutput.from_content(str(model), steps[-1][0].reason or steps[-1][0].status)
        state.store.set(CHAIN, chain.id)
        state.completed = True
        return state

    return solve


async def in_thread(work: Callable[[], Any]) -> Any:
    return await anyio.to_thread.run_sync(work, limiter=anyio.CapacityLimiter(1))


def stored_steps(run: Path, chain: Chain) -> list[tuple[Step, bytes]]:
    """Every step of a chain with the bytes as received."""
    folder = run / "chains" / chain.id
    steps = store.parse_steps(folder / "steps.jsonl", (folder / "steps.jsonl").read_bytes())
    return [(step, (folder / step.file).read_bytes() if step.file else b"") for step in steps]


def conversation(steps: Sequence[tuple[Step, bytes]]) -> list[ChatMessage]:
    """The whole chain as messages: the input, then each instruction and its answer."""
    messages: list[ChatMessage] = [user_message("the original, as prepared for the editor", steps[0][1])]
    for step, data in steps[1:]:
        messages.append(user_message(f"round {step.round}: {step.instruction}", None))
        picture = [ContentImage(image=as_uri(data))] if data else []
        told = [ContentText(text=step.text or step.reason or step.status)]
        about = {"step": step.step, "status": step.status, "sha256": step.sha256, "cost": step.cost}
        messages.append(ChatMessageAssistant(content=[*told, *picture], metadata=about))
    return messages


@scorer(
    metrics={
        "rounds_kept": [mean(), stderr(cluster="source")],
        "survived": [mean(), stderr(cluster="source")],
    }
)
def rounds_kept(suite: str, out: str, max_cost: float | None = None, metrics: list[str] | None = None) -> Scorer:
    """The rounds before the first loss, and every number of every step as `convergebench score` has it."""
    runs = runs_of(suite, out, max_cost, tuple(metrics) if metrics else None)

    async def score(state: TaskState, target: Target) -> Score:
        mine = await in_thread(lambda: runs.of(get_model()))
        of, role = runs.suite, trait(mine.choice.editor, "role")
        id = str(state.store.get(CHAIN))
        found = await in_thread(lambda: runs.scorer.score(id, of.name, of.version, role))
        about = {"chain": id, "steps": found.rows}
        if found.outcome is None:
            return Score.unscored(explanation="too many unrelated pictures look like this one", metadata=about)
        outcome = found.outcome
        value = {"rounds_kept": float(outcome.kept), "survived": float(not outcome.lost)}
        lost = f"lost in round {outcome.lost_at}: {outcome.cause}" if outcome.lost else "nothing was lost"
        return Score(value=value, answer=str(outcome.kept), explanation=lost, metadata=about)

    return score
