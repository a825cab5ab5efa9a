"""ConvergeBench in Inspect: the task `convergebench/round_trip`, and every editor as a model.

A sample is one picture, one program, one run. The solver runs the chain in the
benchmark's own loop and store, and Inspect hears of an answer when it is on disk: a
killed evaluation requests only the missing steps. The scores are those of
`convergebench score`.
"""

import base64
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TypeVar

import anyio.from_thread
import anyio.to_thread
from convergebench.dataset_builder.building.build import plan_files, write_files
from convergebench.dataset_builder.dataset import manifest
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import SOURCES, source_row
from convergebench.dataset_builder.dataset.schema import write
from convergebench.generation import editors, pictures, plan, store, suites
from convergebench.generation.editors import editor_info, trait
from convergebench.generation.ledger import Budget
from convergebench.generation.loop import prepare_from, run_chain
from convergebench.generation.records import Chain, Json, Step, UserError
from convergebench.generation.scheduler import make_caller, require_ready
from convergebench.generation.store_reader import StoredChain, read_chain, read_source_file
from convergebench.metric_modules._engine.chains import find_chains
from convergebench.metric_modules._engine.engine import BATCH, Job
from convergebench.metric_modules._engine.floors import floor_medians, floor_place, floor_task, originals_of
from convergebench.metric_modules._engine.metrics import choose
from convergebench.metric_modules._engine.results import Results, chain_rows, floor_rows
from convergebench.metric_modules._engine.worker import compare_floors, score_chains
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.spaces_app.analysis.analysis import Analysis
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
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

_CHAIN = "convergebench:chain"  # in a sample's store: the id of its chain
_Result = TypeVar("_Result")

# The step that was just stored and its bytes, while they are reported to Inspect.
_stored: ContextVar[tuple[Step, bytes] | None] = ContextVar("stored", default=None)


class EditorAPI(ModelAPI):
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
        if (stored := _stored.get()) is None:
            raise UserError(f"{self.model_name} answers in the task convergebench/round_trip alone")
        return _as_output(self.model_name, *stored)

    async def count_tokens(self, input: str | list[ChatMessage], config: GenerateConfig | None = None) -> int:
        return 0  # calls are billed by picture; the default would download a tokenizer

    def max_connections(self) -> int:
        return self.choice.concurrency


@modelapi(name="convergebench")
def convergebench() -> type[ModelAPI]:
    return EditorAPI


def _image(data: bytes) -> ContentImage:
    kind = {"jpg": "jpeg"}.get(sniffed := pictures.sniff(data), sniffed)
    return ContentImage(image=f"data:image/{kind};base64,{base64.b64encode(data).decode()}")


def _as_output(model: str, answer: Step, data: bytes) -> ModelOutput:
    words = ContentText(text=answer.text or answer.reason or answer.status)
    stop = "content_filter" if answer.status == "refused" else "stop"
    output = ModelOutput.from_content(model, [words, *([_image(data)] if data else [])], stop)
    output.message.metadata = {"status": answer.status, "cost": answer.cost, "details": dict(answer.details)}
    return output


class _Run:
    """One model's chains by sample id, and what all its samples share."""

    def __init__(self, suite: str, out: str, max_cost: float | None, metrics: Sequence[str], model: Model):
        if not isinstance(model.api, EditorAPI):
            raise UserError(f"{model} is not an editor of the benchmark; give --model convergebench/NAME")
        self.suite, self.folder, choice = suites.load(suite), Path(out), model.api.choice
        self.sources = [self.suite.source(id) for id in self.suite.sources]
        self.metric_runs, self.absent = choose(metrics or None, None, None)
        self.floors, self.lock = Results(), threading.Lock()  # a picture's floors are computed once
        store.open_run(self.folder, self.suite.header, {choice.label: editor_info(choice)})
        for source in self.sources:
            store.keep_source(self.folder, source.sha256, self.suite.read(source.id))
        self.editor = choice.editor
        self.chains = {_case_id(chain): chain for chain in plan.make_plan(self.suite, [choice]).chains}
        is_paid = trait(self.editor, "price")() != 0
        ledger = (self.folder, store.cost_so_far(self.folder)) if is_paid else ()
        self.caller = make_caller(choice, Budget(max_cost, *ledger))
        self.prepared = prepare_from(self.folder, [choice])

    def steps(self, chain: Chain, tell: Callable[[Step, bytes], None]) -> list[tuple[Step, bytes]]:
        folder = self.folder / "chains" / chain.id

        def data_of(step: Step) -> bytes:
            return (folder / step.file).read_bytes() if step.file else b""

        if not store.is_done(self.folder, chain.id):
            ask, told = self.caller.ask, lambda _, step: tell(step, data_of(step))
            run_chain(chain, self.editor, self.folder, self.prepared, ask, told)
        steps = store.parse_steps(folder / "steps.jsonl", (folder / "steps.jsonl").read_bytes())
        return [(step, data_of(step)) for step in steps]

    def score(self, chain_id: str) -> tuple[list[Json], Outcome | None]:
        """A chain's rows as `convergebench score` gives them, and its outcome; None if it cannot be judged."""
        stored = read_chain(self.folder / "chains" / chain_id, self.suite.name, self.suite.version)
        with self.lock, tempfile.TemporaryDirectory() as folder:
            return self._score_in(Path(folder), stored)

    def _score_in(self, folder: Path, stored: StoredChain) -> tuple[list[Json], Outcome | None]:
        reader = self._dataset_of(folder, stored)
        [chain] = find_chains(reader)
        originals = originals_of(reader)
        # In the engine's order of pictures, because float sums depend on the order.
        task = floor_task(
            originals[stored.source.id], floor_place(chain)[2], [originals[id] for id in sorted(originals)]
        )
        results = Results()
        results.floors |= {key: values for key, values in self.floors.floors.items() if key[0] == task.key}
        job = Job(folder, reader, [chain], self.metric_runs, self.absent, [task], results)
        for line in compare_floors(job, [task] if job.lacking_floors(task) else []):
            results.add(line)
        self.floors.floors |= results.floors
        medians = floor_medians(results.pairs(task), {source.id for source in self.sources})
        for line in score_chains(job, [chain], BATCH, {floor_place(chain): medians}):
            results.add(line)
        scores = [row for row, _ in chain_rows(chain, results, job.stored_specs(), self.absent, medians)]
        roles = {stored.editor: trait(self.editor, "role")}
        analysis = Analysis(scores, [reader.chain(stored.id)], floor_rows([task], results), roles=roles)
        outcomes = [outcome for group in analysis.outcomes.values() for outcome in group.get(stored.editor, ())]
        return scores, outcomes[0] if outcomes else None

    def _dataset_of(self, folder: Path, stored: StoredChain) -> Reader:
        """A dataset of one chain and all sources, in a folder that is empty."""
        manifest.expect(folder, write_files(folder, plan_files([stored], []), lambda: None, {}))
        files = [(source, *read_source_file(self.folder, source.sha256)) for source in self.sources]
        rows = [source_row(source, data, path) for source, path, data in files]
        write(folder / "data" / "sources" / "0000.parquet", SOURCES, rows, folder)
        return Reader(folder)


_beginning = threading.Lock()
_cached_run = cache(_Run)


async def _run_of(*arguments: object) -> _Run:
    def begin() -> _Run:
        with _beginning:
            return _cached_run(*arguments)

    return await _in_thread(begin)


@task
def round_trip(
    suite: str = "demo",
    out: str | None = None,
    max_cost: float | None = None,
    metrics: str | list[str] | None = None,
) -> Task:
    """Edit, undo, repeat: how many rounds does the picture keep?

    `suite` must have no variants. `out` is the run's folder, which `convergebench build` reads like
    any other. `max_cost` is in US dollars, for the whole run. `metrics` are names separated by commas.
    """
    loaded = suites.load(suite)
    if len(loaded.variants) > 1 or any(loaded.source(id).reference for id in loaded.sources):
        raise UserError(f"suite {suite!r} has variants or references; use `convergebench generate`")
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
        metadata=loaded.header,
    )


def _case_id(chain: Chain) -> str:
    return f"{chain.source.id}.{chain.program.id}.{chain.run}"


def _sample_of(chain: Chain) -> Sample:
    source, program = chain.source, chain.program
    metadata = {"source": source.id, "program": program.id, "run": chain.run, "rounds": chain.rounds}
    metadata |= {"category": program.category, "kind": source.kind, "cycle": list(program.cycle)}
    words = f"{'; '.join(program.cycle)} ({chain.rounds} times)"
    return Sample(input=words, id=_case_id(chain), metadata=metadata)


@solver
def edit_and_undo(
    suite: str, out: str, max_cost: float | None = None, metrics: list[str] | None = None
) -> Solver:

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        run = await _run_of(suite, out, max_cost, tuple(metrics or ()), model)
        chain = run.chains[str(state.sample_id)]

        async def tell(step: Step, data: bytes) -> None:
            _stored.set((step, data))
            words, config = [ChatMessageUser(content=step.instruction)], GenerateConfig(seed=step.seed)
            with anyio.CancelScope(shield=True):  # a cancelled call would never end
                await model.generate(words, config=config)

        def tell_loop(step: Step, data: bytes) -> None:
            anyio.from_thread.check_cancelled()  # once another sample has failed
            anyio.from_thread.run(tell, step, data)

        steps = await _in_thread(lambda: run.steps(chain, tell_loop))
        original = [ContentText(text="the original, as prepared for the editor"), _image(steps[0][1])]
        state.messages = [ChatMessageUser(content=original)]
        for step, data in steps[1:]:
            state.output = _as_output(str(model), step, data)
            state.messages.append(ChatMessageUser(content=f"round {step.round}: {step.instruction}"))
            state.messages.append(state.output.message)
        state.store.set(_CHAIN, chain.id)
        state.completed = True
        return state

    return solve


async def _in_thread(work: Callable[[], _Result]) -> _Result:
    return await anyio.to_thread.run_sync(work, limiter=anyio.CapacityLimiter(1))


_PER_SOURCE = [mean(), stderr(cluster="source")]


@scorer(metrics={"rounds_kept": _PER_SOURCE, "survived": _PER_SOURCE})
def rounds_kept(suite: str, out: str, max_cost: float | None = None, metrics: list[str] | None = None) -> Scorer:

    async def score(state: TaskState, target: Target) -> Score:
        run = await _run_of(suite, out, max_cost, tuple(metrics or ()), get_model())
        id = str(state.store.get(_CHAIN))
        rows, outcome = await _in_thread(lambda: run.score(id))
        metadata = {"chain": id, "steps": rows}
        if outcome is None:
            return Score.unscored(explanation="too many unrelated pictures look like this one", metadata=metadata)
        value = {"rounds_kept": float(outcome.kept), "survived": float(not outcome.lost)}
        explanation = f"lost in round {outcome.lost_at}: {outcome.cause}" if outcome.lost else "nothing was lost"
        return Score(value=value, answer=str(outcome.kept), explanation=explanation, metadata=metadata)

    return score
