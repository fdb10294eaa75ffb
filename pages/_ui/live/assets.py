"""Serves what the components need besides their frames: JavaScript, plotly.js, arrays, figures.

Streamlit sends a component's inline JavaScript with every run. Served from a route, a frame carries
only the one-line `stub` that imports it. Files are compressed once; all is cached for good, since a
URL names a version or a content hash.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from plotly.offline import get_plotlyjs_version
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit import config

from pages._ui.live.shelf import shelf

_FOLDER = Path(__file__).parent / "js"
_SCRIPTS = {path.name: path for path in sorted(_FOLDER.glob("*.js"))}
# One version for the whole folder, as part of the path: relative imports inherit it.
_VERSION = hashlib.blake2b(
    b"".join(path.read_bytes() for path in sorted(_FOLDER.iterdir())), digest_size=6
).hexdigest()
# Lines of comment, and types; the formatter leaves them like this.
_COMMENT = re.compile(r"^ *//[^\n]*$|/\*\*(?:(?!\*/).)*\*/ ?", re.MULTILINE | re.DOTALL)
_STYLE = re.compile(r'^import (\w+) from "\./([\w-]+\.css)"$', re.MULTILINE)
_PLOTLY = Path(str(files("plotly") / "package_data" / "plotly.min.js"))
_FOREVER = "public, max-age=31536000, immutable"


def _base() -> str:
    """The URL prefix from `server.baseUrlPath`, "" or "/prefix"."""
    path = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def plotly_url() -> str:
    """The absolute path under which the browser finds plotly.js."""
    return f"{_base()}/assets/plotly.min.js?v={get_plotlyjs_version()}"


def parts_url() -> str:
    """The absolute path under which the browser finds a packed array or figure, without its id."""
    return f"{_base()}/assets/live/parts/"


def stub(script: str, component: str = "default") -> str:
    """The JavaScript a component carries: it imports `component` of the served module `script`."""
    if script not in _SCRIPTS:
        raise ValueError(f"no script {script!r}; there are {', '.join(_SCRIPTS)}")
    # A component's own module has a blob: URL, hence the explicit origin.
    url = _script_url(script)
    loaded = f'(await import(location.origin + "{url}"))'
    return f"export default async c =>\n{loaded}.{component}(c)\n"


def script_urls() -> list[str]:
    """The absolute paths of all scripts."""
    return [_script_url(script) for script in _SCRIPTS]


def _script_url(script: str) -> str:
    return f"{_base()}/assets/live/{_VERSION}/{script}"


def served(text: str, folder: Path = _FOLDER) -> str:
    """A script as browsers get it: no comments and types, and the style sheets it imports in it.

    Its lines keep their numbers, which browsers name in errors. A bundler gives
    ``import CSS from "./x.css"`` the same meaning; browsers know no such import.
    """
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    return _STYLE.sub(lambda line: f"const {line[1]} = {_style(folder / line[2])}", text)


def _style(path: Path) -> str:
    """A style sheet as a JavaScript string, without comments and indentation."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    return json.dumps(" ".join(text.split()))


@lru_cache(maxsize=32)
def _read(path: Path) -> tuple[bytes, bytes]:
    """What is sent of a file, plain and compressed."""
    ours = path.parent == _FOLDER
    plain = served(path.read_text("utf-8")).encode() if ours else path.read_bytes()
    return plain, gzip.compress(plain, 9)


def _respond(request: Request, path: Path, cache: str) -> Response:
    plain, packed = _read(path)
    headers = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
    body = plain
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        body = packed
    return Response(body, media_type="text/javascript", headers=headers)


def compress_plotly() -> None:
    """Have plotly.js ready to be sent."""
    _read(_PLOTLY)


def _plotly(request: Request) -> Response:
    current = request.query_params.get("v") == get_plotlyjs_version()
    return _respond(request, _PLOTLY, _FOREVER if current else "no-cache")


def _script(request: Request) -> Response:
    path = _SCRIPTS.get(request.path_params["name"])
    if path is None:
        return Response("not found", status_code=404)
    # During a rolling restart an old page may ask for the version before: answer, don't keep.
    current = request.path_params["version"] == _VERSION
    return _respond(request, path, _FOREVER if current else "no-cache")


def _part(request: Request) -> Response:
    data = shelf.get(request.path_params["id"])
    if data is None:
        return Response("not here any more", status_code=404, headers={"Cache-Control": "no-store"})
    # "identity" keeps Streamlit from compressing it: noise in int16 only gets slower.
    headers = {
        "Cache-Control": "private, max-age=86400, immutable",
        "Content-Encoding": "identity",
    }
    return Response(data, media_type="application/octet-stream", headers=headers)


def routes(*, shelf_bytes: int | None = None) -> list[Route]:
    """The routes to hand to `st.App(routes=…)`; their paths respect `server.baseUrlPath`.

    shelf_bytes: how many bytes of arrays and figures may wait to be fetched, 128 MB by default.
    """
    if shelf_bytes is not None:
        shelf.limit = shelf_bytes
    base = _base()
    return [
        Route(f"{base}/assets/plotly.min.js", _plotly),
        Route(f"{base}/assets/live/parts/{{id}}", _part),
        Route(f"{base}/assets/live/{{version}}/{{name}}", _script),
    ]
