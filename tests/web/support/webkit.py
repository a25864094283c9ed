"""WebKitGTK, by the WebDriver protocol (W3C): a browser that Playwright has none of on Debian."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

DEADLINE_SECONDS = 60
_BROWSER = "webkit2gtk-4.*/MiniBrowser"


class WebKit:
    """A session with one window."""

    def __init__(self, address: str) -> None:
        self._address = address

    def open(self, url: str) -> None:
        """Load a page."""
        self._call("url", {"url": url})

    def run(self, script: str, *arguments: object) -> Any:
        """Run the body of a function in the page; return what it returns."""
        return self._call("execute/sync", {"script": script, "args": arguments})

    def wait(self, script: str, *arguments: object) -> Any:
        """Return the script's first true value; fail when it takes too long."""
        return _first(lambda: self.run(script, *arguments), f"never true in the page: {script}")

    def _call(self, command: str, body: dict[str, object]) -> Any:
        return _posted(f"{self._address}/{command}", body)


@contextlib.contextmanager
def running_webkit(folder: Path) -> Iterator[WebKit]:
    """Start WebKitGTK on a screen of its own; skips the test where it is not installed."""
    driver, screen = (shutil.which(each) for each in ("WebKitWebDriver", "Xvfb"))
    browser = next(iter(sorted(Path("/usr/lib").glob(f"*/{_BROWSER}"))), None)
    if not (driver and screen and browser):
        pytest.skip("no WebKitGTK was found; Debian has it in webkit2gtk-driver and xvfb")
    with contextlib.ExitStack() as stack:
        own = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
        display = stack.enter_context(_screen(screen))
        # No graphics card, and where the tests' user is root no sandbox either.
        plain = {"WEBKIT_DISABLE_COMPOSITING_MODE": "1", "LIBGL_ALWAYS_SOFTWARE": "1"}
        open_ = {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}
        environment = {**os.environ, **own, **plain, **open_, "DISPLAY": display}
        port = _free_port()
        command = [driver, f"--port={port}"]
        stack.enter_context(_running(command, env=environment))
        address = f"http://127.0.0.1:{port}"
        _first(lambda: _answers(f"{address}/status"), "WebKitWebDriver answers")
        options = {"binary": str(browser), "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        session = _posted(f"{address}/session", {"capabilities": wanted})["sessionId"]
        yield WebKit(f"{address}/session/{session}")


@contextlib.contextmanager
def _screen(command: str) -> Iterator[str]:
    """Start a screen that nobody sees; give its name."""
    reader, writer = os.pipe()
    with _running([command, "-displayfd", str(writer), "-nolisten", "tcp"], pass_fds=[writer]):
        os.close(writer)
        with os.fdopen(reader) as said:
            yield f":{said.readline().strip()}"


@contextlib.contextmanager
def _running(command: list[str], **options: Any) -> Iterator[None]:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0, **options
    )
    try:
        yield
    finally:
        # With what it started: the browser and its processes.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    with contextlib.suppress(OSError):
        urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 - our own driver's
        return True
    return False


def _posted(url: str, body: dict[str, object]) -> Any:
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), kind)  # noqa: S310
    with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as answer:  # noqa: S310
        return json.load(answer)["value"]


def _first(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.1)  # between two looks; the deadline decides
    raise AssertionError(what)
