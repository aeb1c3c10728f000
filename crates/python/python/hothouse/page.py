"""The built page in a notebook: a frame that shows a run, and a server on this machine for a folder with the page."""

from __future__ import annotations

import html
import os
import pathlib
import re
import sys
import threading
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote, urlencode, urlsplit

CONTROLS = ("all", "play", "knobs", "none")
THEMES = ("auto", "light", "dark")

_DOCUMENT = "embed.html"
#: Headers for isolation and security, as `scripts/serve.mjs` sends them.
_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
#: Headers of the only document that other pages may frame.
_FRAMED = {"Cross-Origin-Resource-Policy": "cross-origin", "Document-Isolation-Policy": "isolate-and-require-corp"}
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
#: Host names of this machine. A request for another host name could be a DNS rebinding attack.
_LOOPBACK = ("localhost", "127.0.0.1")
_MOST_CONNECTIONS = 64
_TIMEOUT_S = 30


class Frame:
    """A run in a frame, which notebooks show."""

    def __init__(self, address: str, title: str, width: int | str, height: int | str) -> None:
        self.address = address
        self._title, self._size = title, (width, height)

    def __repr__(self) -> str:
        return f"Frame({self.address!r})"

    def _repr_html_(self) -> str:
        address, title, width, height = (html.escape(str(part)) for part in (self.address, self._title, *self._size))
        return (
            f'<iframe src="{address}" title="{title}" width="{width}" height="{height}" allow="cross-origin-isolated" '
            f'style="border: 0"></iframe>'
        )


def frame(link: str, title: str, page: str | os.PathLike[str] | None, controls: str, theme: str, size: tuple[int | str, int | str]) -> Frame:
    """A frame with the run of a link. `page` is as in `Run.show`."""
    for name, value, known in [("controls", controls, CONTROLS), ("theme", theme, THEMES)]:
        if value not in known:
            raise ValueError(f"{name}={value!r} is unknown. Choose one of: {', '.join(known)}")
    return Frame(f"{_address(page)}{_DOCUMENT}?{urlencode({'controls': controls, 'theme': theme})}{link}", title, *size)


def _address(page: str | os.PathLike[str] | None) -> str:
    """Address of the built page, with a final slash."""
    page = page if page is not None else os.environ.get("HOTHOUSE_PAGE")
    if not page:
        raise ValueError(
            "the built page is needed. Set page= or the environment variable HOTHOUSE_PAGE to its address, or to a folder that contains it: "
            "the page of a release, or dist after 'npm run build'"
        )
    text = os.fspath(page)
    if re.match(r"https?://", text):
        return quote(text.rstrip("/"), safe=":/@%[]") + "/"
    return serve(text)


def serve(folder: str | os.PathLike[str]) -> str:
    """Serves a folder with the built page to browsers on this machine until the process ends. Returns the address."""
    path = pathlib.Path(folder).resolve()
    if not (path / _DOCUMENT).is_file():
        raise ValueError(f"{path} is no built page, because it has no {_DOCUMENT}. Give the folder dist that 'npm run build' writes")
    return _served(path, os.getpid())


@lru_cache(maxsize=None)
def _served(folder: pathlib.Path, process: int) -> str:
    """Address of the server of a folder. After a fork, the child starts another server."""
    handler = type("Handler", (_Handler,), {"folder": folder})
    server = _Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, name="hothouse-page", daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


class _Server(ThreadingHTTPServer):
    """A server with a limited number of connections. Further connections wait. It prints nothing if a browser ends a connection."""

    daemon_threads = True

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._free = threading.BoundedSemaphore(_MOST_CONNECTIONS)

    def process_request(self, request: object, client_address: object) -> None:
        self._free.acquire()
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def process_request_thread(self, request: object, client_address: object) -> None:
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:
        # A browser ends connections at any time, for example when a page with unfinished downloads is closed.
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    folder: pathlib.Path
    timeout = _TIMEOUT_S

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Logs nothing."""

    def _answer(self) -> None:
        host = (self.headers.get("Host") or "").lower().rsplit(":", 1)[0]
        if host not in _LOOPBACK:
            return self._refuse(421, "This server does not go by that name. Use 127.0.0.1 or localhost.")
        found = self._found()
        if found is None:
            return self._refuse(404, "Not found.")
        file, content = found
        self.send_response(200)
        self.send_header("Content-Type", _TYPES.get(file.suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(content)))
        inside = file.relative_to(self.folder).parts
        # The names of files under assets/ and wasm/ contain a hash of the content.
        self.send_header("Cache-Control", "max-age=31536000, immutable" if inside[0] in ("assets", "wasm") else "no-cache")
        self._send_policies(inside == (_DOCUMENT,))
        self._send(content)

    def _send(self, body: bytes) -> None:
        """Sends the body of an answer. The answer to HEAD has no body."""
        if self.command != "HEAD":
            self.wfile.write(body)

    def _found(self) -> tuple[pathlib.Path, bytes] | None:
        """Requested file and its content; `None` if there is no such file in the folder. Links that lead out of the folder are not followed."""
        try:
            path = unquote(urlsplit(self.path).path, errors="strict").lstrip("/")
            file = (self.folder / (path or "index.html")).resolve()
            return (file, file.read_bytes()) if file.is_relative_to(self.folder) and file.is_file() else None
        except (ValueError, OSError):
            return None

    def _refuse(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text) + 1))
        self._send_policies(False)
        self._send(f"{text}\n".encode())

    def _send_policies(self, framed: bool) -> None:
        """Sends the headers for isolation and security, and ends the headers."""
        policy = _policy(self.folder / (_DOCUMENT if framed else "index.html"))
        if not framed:
            policy = "; ".join(filter(None, [policy, "frame-ancestors 'none'"]))
        for name, value in {**_HEADERS, **(_FRAMED if framed else {}), "Content-Security-Policy": policy}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()


@lru_cache(maxsize=8)
def _policy(document: pathlib.Path) -> str:
    """Content security policy of a document, for a header. Unlike the document's own tag, a header also applies to workers."""
    try:
        found = re.search(r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"', document.read_text("utf-8"))
    except OSError:
        return ""
    return found[1] if found else ""
