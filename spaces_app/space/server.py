"""The server: the page, its files, and an endpoint for every view."""

import gzip
import inspect
import mimetypes
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial, wraps
from typing import Any, get_type_hints

import gradio as gr
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from convergebench.generation.records import UserError
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ..reporting.figures import FORMS, house_style
from ..reporting.headline import stamp
from . import request_limit
from .page import page_files, with_link_preview
from .previews import IMAGES, previews_of
from .served_dataset import DAMAGED_FILE, ServedDataset, explain
from .tabs import find_tabs, listed_by_tabs

_TYPES = {str: "a text", int: "a whole number", float: "a number", list[str]: "a list of texts"}
# An address contains a hash of its content, so a cached copy never becomes wrong.
_CACHED_FOREVER = {"cache-control": "public, max-age=31536000, immutable"}
_gzipped = lru_cache(maxsize=64)(partial(gzip.compress, mtime=0))
_VISIBILITY = {"PUBLIC": "public", "FOR_THE_PAGE": "undocumented"}  # a tab's kind of endpoint -> Gradio's
_CALL_PATH = re.compile(r"/(?:gradio_api/)?(?:upload/?$|(?:run|api|call/v2|call)/([^/]+))")


def make_server(dataset: ServedDataset) -> gr.Server:
    middleware = [Middleware(_known_endpoints_only), Middleware(request_limit.RequestLimit)]
    server = gr.Server(title="ConvergeBench", docs_url=None, redoc_url=None, middleware=middleware)
    for function, visibility in _endpoints().items():
        answer = _endpoint(function, dataset)
        if function in listed_by_tabs("CONFIDENTIAL"):
            answer = _without_keeping(answer, server)
        server.api(answer, name=function.__name__, queue=False, api_visibility=visibility)
    _add_files(server, dataset)
    _add_figures(server, dataset)
    return server


def _endpoints() -> dict[Callable, Any]:
    """The functions of all tabs that are endpoints, each with its visibility in Gradio."""
    return {function: visibility for kind, visibility in _VISIBILITY.items() for function in listed_by_tabs(kind)}


def _known_endpoints_only(app: ASGIApp) -> ASGIApp:
    """Middleware that refuses uploads and unknown endpoints, which Gradio would report as its own failure."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        called = _CALL_PATH.match(scope.get("path", ""))
        if not called or called[1] in {function.__name__ for function in _endpoints()}:
            await app(scope, receive, send)
        elif called[1]:
            await _not_found()(scope, receive, send)
        else:
            text = "files are not uploaded here; endpoints take them in base64\n"
            await Response(text, 403)(scope, receive, send)

    return answer


def _endpoint(function: Callable, dataset: ServedDataset) -> Callable:
    """A tab's function as an endpoint of this dataset; errors of a visitor are answered with their message."""
    signature = inspect.signature(function)
    signature = signature.replace(parameters=list(signature.parameters.values())[1:])

    @wraps(function)
    def answer(*args: object, **kwargs: object) -> object:
        try:
            bound = signature.bind(*args, **kwargs)
            for name, value in bound.arguments.items():
                kind = signature.parameters[name].annotation
                if not _is_of_type(value, kind):
                    raise UserError(f"{name} is {str(value)[:40]!r}; it must be {_TYPES[kind]}")
            return function(dataset, *bound.args, **bound.kwargs)
        except (UserError, *DAMAGED_FILE) as error:
            raise gr.Error(explain(error), print_exception=False) from error

    answer.__signature__ = signature  # type: ignore[attr-defined]
    return answer


def _is_of_type(value: object, kind: Any) -> bool:
    if kind == list[str]:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, int | float if kind is float else kind) and not isinstance(value, bool)


def _without_keeping(answer: Callable, server: gr.Server) -> Callable:
    """The same endpoint, whose arguments Gradio does not keep after the answer.

    Gradio's queue keeps the last request too, so its share of memory is released here.
    """
    signature = inspect.signature(answer)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    request_parameter = inspect.Parameter("request", kind, default=None, annotation=gr.Request)

    @wraps(answer)
    def call(*args: Any) -> object:
        *values, request = args
        try:
            return answer(*values)
        finally:
            server.state_holder.session_data.pop(request.session_hash, None)
            request.request.scope.pop(request_limit.SHARE, None)

    call.__signature__ = signature.replace(parameters=[*signature.parameters.values(), request_parameter])  # type: ignore[attr-defined]
    call.__annotations__ = {**get_type_hints(answer), "request": gr.Request}
    return call


def _add_files(server: gr.Server, dataset: ServedDataset) -> None:
    files, previews = page_files(dataset), previews_of(dataset)
    titles = {id: tab.TITLE for id, (_, tab) in find_tabs().items()}

    @server.api_route("/", methods=["GET", "HEAD"])
    def index(request: Request) -> Response:
        view = titles.get(request.query_params.get("tab", ""), "")
        return _zipped(request, with_link_preview(files["index.html"], view, str(request.base_url)), "text/html")

    @server.get("/page/{state}/{name:path}")
    def page_file(state: str, name: str, request: Request) -> Response:
        kind = mimetypes.guess_type(name)[0]
        return _zipped(request, files[name], kind, _CACHED_FOREVER) if name in files else _not_found()

    @server.get("/rows/{config}.{form}")
    def rows(config: str, form: str, request: Request) -> Response:
        if config not in ("scores", "chains") or form not in ("csv", "parquet"):
            return _not_found()
        table = dataset.score_table if config == "scores" else dataset.reader.table(config)
        return Response(_table_file(table, form), headers=_attachment(f"{config}.{form}"))

    @server.get("/pictures/{state}/{name}")
    async def picture_file(state: str, name: str) -> Response:
        path = previews.folder / name
        if not IMAGES.fullmatch(name) or not path.is_file():
            return _not_found()
        return FileResponse(path, headers=_CACHED_FOREVER)


def _table_file(table: pa.Table, form: str) -> bytes:
    out = pa.BufferOutputStream()
    if form == "parquet":
        pq.write_table(table, out)
    else:
        fields = [field.name for field in table.schema if not pa.types.is_nested(field.type)]
        pa_csv.write_csv(table.select(fields), out)
    return out.getvalue().to_pybytes()


def _zipped(request: Request, data: bytes, kind: str | None, headers: Mapping[str, str] = {}) -> Response:
    headers = {**headers, "vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(_gzipped(data), headers=headers | {"content-encoding": "gzip"}, media_type=kind)
    return Response(data, headers=headers, media_type=kind)


def _attachment(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def _not_found() -> Response:
    return Response("not found\n", 404)


def _add_figures(server: gr.Server, dataset: ServedDataset) -> None:
    figures = {
        name: draw for _, tab in find_tabs().values() for name, draw in getattr(tab, "FIGURES", {}).items()
    }
    drawing = threading.Lock()  # matplotlib's settings are global

    @server.get("/figures/{name}.{form}")
    def figure(name: str, form: str, request: Request) -> Response:
        if name not in figures or form not in FORMS:
            return _not_found()
        query, parameters = request.query_params, inspect.signature(figures[name]).parameters
        lists = {key for key in parameters if parameters[key].annotation == list[str]}  # the others are texts
        values = {key: query.getlist(key) if key in lists else query[key] for key in parameters if key in query}
        try:
            with drawing, house_style():
                drawn = figures[name](dataset, **values)
                drawn = drawn and replace(drawn, stamp=stamp(dataset.version, dataset.reader))
                content = drawn.file(form) if drawn else b""
        except (UserError, *DAMAGED_FILE) as error:
            return Response(f"{explain(error)}\n", 400, media_type="text/plain")
        if not drawn:
            return _not_found()
        return Response(content, headers=_attachment(f"{drawn.name}.{form}"), media_type=FORMS[form])
