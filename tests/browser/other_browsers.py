"""Firefox and WebKit as Debian packs them, driven by what they speak themselves.

Firefox hears Marionette, JSON over TCP; WebKit hears WebDriver, JSON over HTTP, and has to have a
screen, which Xvfb is.
"""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

SOON = 60  # seconds within which a browser starts
DISPLAY = ":87"
PATHS = {"Navigate": "url", "ExecuteScript": "execute/sync"}  # of WebDriver over HTTP


class NotInstalled(Exception):
    """Which program a browser lacks, as a sentence."""


class Driven:
    """A window of a browser."""

    def ask(self, command: str, fields: dict[str, Any]) -> Any:
        raise NotImplementedError

    def open(self, address: str) -> None:
        self.ask("Navigate", {"url": address})

    def run(self, script: str) -> Any:
        """What a script returns on the page."""
        return self.ask("ExecuteScript", {"script": script, "args": []})

    def until(self, condition: str, seconds: float) -> float:
        """How many seconds it takes until an expression is true on the page."""
        began = time.monotonic()
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() - began < seconds, f"{condition}: not within {seconds} s"
            time.sleep(0.02)
        return time.monotonic() - began


class Firefox(Driven):
    def __init__(self, port: int) -> None:
        self.line, self.number = _connected(port), 0
        self._heard()
        self.ask("NewSession", {})

    def ask(self, command: str, fields: dict[str, Any]) -> Any:
        self.number += 1
        text = json.dumps([0, self.number, f"WebDriver:{command}", fields]).encode()
        self.line.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self._heard()
        assert error is None, error
        return result.get("value")

    def _heard(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self.line.recv(1)
        text = b""
        while len(text) < int(length[:-1]):
            text += self.line.recv(int(length[:-1]) - len(text))
        return json.loads(text)


class WebKit(Driven):
    def __init__(self, port: int, browser: str) -> None:
        _connected(port).close()
        self.root = f"http://127.0.0.1:{port}/session"
        options = {"binary": browser, "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self.root += "/" + self._posted("", {"capabilities": wanted})["sessionId"]

    def ask(self, command: str, fields: dict[str, Any]) -> Any:
        return self._posted("/" + PATHS[command], fields)

    def _posted(self, path: str, fields: dict[str, Any]) -> Any:
        text = json.dumps(fields).encode()
        with urllib.request.urlopen(self.root + path, text, timeout=2 * SOON) as heard:
            return json.load(heard)["value"]


@contextmanager
def firefox(folder: Path) -> Iterator[Driven]:
    """A new profile's Firefox, without a screen."""
    port = _free_port()
    (folder / "user.js").write_text(f'user_pref("marionette.port", {port});\n', encoding="utf-8")
    command = [_program("firefox-esr", "firefox"), "--headless", "--marionette", "--profile"]
    with _running([*command, str(folder)], folder):
        yield Firefox(port)


@contextmanager
def webkit(folder: Path) -> Iterator[Driven]:
    """WebKitGTK's own small browser, on a screen that nobody sees."""
    driver, screen, port = _program("WebKitWebDriver"), _program("Xvfb"), _free_port()
    found = sorted(Path("/usr/lib").glob("*/webkit2gtk-4*/MiniBrowser"))
    if not found:
        raise NotInstalled("MiniBrowser is not here: apt install webkit2gtk-driver")
    with ExitStack() as stack:
        stack.enter_context(_running([screen, DISPLAY, "-screen", "0", "1280x1000x24"], folder))
        stack.enter_context(_running([driver, f"--port={port}"], folder))
        yield WebKit(port, str(found[-1]))


@contextmanager
def _running(command: list[str], home: Path) -> Iterator[None]:
    around = {**os.environ, "HOME": str(home), "DISPLAY": DISPLAY, "LIBGL_ALWAYS_SOFTWARE": "1"}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env=around, stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _program(*names: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise NotInstalled(f"{names[0]} is not here")
    return found


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


def _connected(port: int) -> socket.socket:
    deadline = time.monotonic() + SOON
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=2 * SOON)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
