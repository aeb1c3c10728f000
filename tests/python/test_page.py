"""The frame of a run in a notebook, and the server of the built page."""

import ast
import http.client
import json
import pathlib
import socket
import struct
import threading
import time
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

import hothouse
from hothouse import page as pages

POLICY = "default-src 'none'; script-src 'self'"
DOCUMENT = f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{POLICY}">'


@pytest.fixture
def built(tmp_path):
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    for name in ["index.html", "embed.html"]:
        (folder / name).write_text(DOCUMENT + name)
    (folder / "assets/a.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


def ask(address, path, method="GET", host=None, timeout=30):
    """Request without the normalisation of paths by clients. Returns status, headers and body."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=timeout)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or place.netloc)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def test_only_the_document_for_frames_can_be_framed(built):
    address = pages.serve(built)
    status, headers, body = ask(address, "/embed.html?controls=all")
    assert status == 200 and body.endswith(b"embed.html")
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert headers["Document-Isolation-Policy"] == "isolate-and-require-corp"
    assert headers["Content-Security-Policy"] == POLICY
    for path, kind in [("/", "text/html; charset=utf-8"), ("/assets/a.js", "text/javascript; charset=utf-8")]:
        status, headers, _ = ask(address, path)
        assert status == 200 and headers["Content-Type"] == kind
        assert headers["Content-Security-Policy"] == f"{POLICY}; frame-ancestors 'none'"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin" and headers["Cross-Origin-Embedder-Policy"] == "require-corp"
        assert headers["Document-Isolation-Policy"] is None
    assert "immutable" in headers["Cache-Control"]
    for path, expected in [("/embed.html", 200), ("/none", 404)]:
        status, headers, body = ask(address, path, "HEAD")
        assert (status, body) == (expected, b"") and int(headers["Content-Length"]) > 0


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "//etc/passwd", "/link.txt", "/assets", "/%00", "/%ff"]
)
def test_no_file_outside_of_the_folder_is_served(built, path):
    assert ask(pages.serve(built), path)[0] == 404


def test_other_names_and_methods_are_refused(built):
    address = pages.serve(built)
    assert ask(address, "/embed.html", host="attacker.example")[0] == 421
    assert ask(address, "/embed.html", "POST")[0] == 501
    assert ask(address, "/embed.html", host=f"localhost:{urlsplit(address).port}")[0] == 200


def test_a_folder_has_one_server_with_a_limited_number_of_connections(built, monkeypatch):
    # Few connections wait. The system would refuse more waiting connections than the server's queue holds, and try again after seconds.
    monkeypatch.setattr(pages, "_MOST_CONNECTIONS", 4)
    address = pages.serve(built)
    assert pages.serve(str(built)) == address
    place = urlsplit(address)
    idle = [socket.create_connection((place.hostname, place.port)) for _ in range(pages._MOST_CONNECTIONS + 1)]
    try:
        with pytest.raises(TimeoutError):
            ask(address, "/embed.html", timeout=0.3)
        ours = [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]
        assert len(ours) == pages._MOST_CONNECTIONS
        assert all(thread.daemon for thread in ours)
    finally:
        for connection in idle:
            connection.close()
    assert ask(address, "/embed.html")[0] == 200


def test_a_connection_that_the_browser_ends_prints_nothing(built, capsys):
    (built / "large.bin").write_bytes(bytes(1 << 24))
    address = pages.serve(built)
    place = urlsplit(address)
    whole = f"GET /large.bin HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode()
    for sent, received in [(whole, 1000), (whole, 0), (whole[:20], 0), (b"", 0)]:
        connection = socket.create_connection((place.hostname, place.port))
        # The connection is reset when it is closed.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(sent)
        assert len(connection.recv(received)) <= received
        connection.close()
    end = time.monotonic() + 30
    while any("process_request_thread" in thread.name for thread in threading.enumerate()) and time.monotonic() < end:
        time.sleep(0.01)
    assert ask(address, "/large.bin")[0] == 200
    assert capsys.readouterr().err == ""


def test_other_errors_of_the_server_are_printed(built, capsys, monkeypatch):
    def fault(self):
        raise RuntimeError("a fault of the server")

    monkeypatch.setattr(pages._Handler, "_found", fault)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(pages.serve(built), "/embed.html")
    end = time.monotonic() + 30
    printed = ""
    while "a fault of the server" not in printed and time.monotonic() < end:
        printed += capsys.readouterr().err
    assert "RuntimeError" in printed


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_a_run_is_shown_in_a_frame(built, monkeypatch):
    run = hothouse.Run("control", variant="CartPole-v1", seed=4, knobs={"envs": 64})
    shown = run.show(page="https://example.org/hothouse", controls="play", theme="dark", height=300)
    [(tag, found)] = Tags(shown._repr_html_()).found
    assert tag == "iframe" and found["height"] == "300" and found["width"] == "100%"
    assert found["src"] == shown.address
    assert shown.address.startswith("https://example.org/hothouse/embed.html?controls=play&theme=dark#/control?variant=CartPole-v1&seed=4")
    monkeypatch.setenv("HOTHOUSE_PAGE", str(built))
    assert ask(run.show().address, "/embed.html")[0] == 200


def test_the_example_notebook_shows_the_frame_of_its_run(built, monkeypatch):
    notebook = json.loads((pathlib.Path(__file__).parents[2] / "examples/embed/notebook.ipynb").read_text())
    folder = built.parent / "examples/embed"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HOTHOUSE_PAGE", raising=False)
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        # As in a notebook, the last line of a cell is an expression, whose value the notebook shows.
        lines = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(lines[:-1], []), "notebook", "exec"), names)
        shown = eval(compile(ast.Expression(lines[-1].value), "notebook", "eval"), names)
    [(tag, found)] = Tags(shown._repr_html_()).found
    assert tag == "iframe" and "#/control?variant=CartPole-v1&seed=1&lr=0.005" in found["src"]
    assert ask(found["src"], urlsplit(found["src"]).path)[0] == 200


def test_texts_are_escaped():
    harm = '"><script>harm()</script>'
    shown = pages.frame(f"#/control?{harm}", harm, f"https://example.org/{harm}", "all", "auto", (harm, 480))
    [(tag, found)] = Tags(shown._repr_html_()).found
    assert tag == "iframe" and found["title"] == harm and found["width"] == harm


def test_errors_name_the_next_step(tmp_path, monkeypatch):
    run = hothouse.Run("control", knobs={"envs": 64})
    monkeypatch.delenv("HOTHOUSE_PAGE", raising=False)
    with pytest.raises(ValueError, match="page= or the environment variable HOTHOUSE_PAGE"):
        run.show()
    with pytest.raises(ValueError, match="no embed.html. Give the folder dist"):
        run.show(page=tmp_path)
    with pytest.raises(ValueError, match="controls='some' is unknown. Choose one of: all, play, knobs, none"):
        run.show(page=tmp_path, controls="some")
