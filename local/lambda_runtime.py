"""Lambda's Runtime API, and AWS's own runtime client running an unzipped package against it."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import sysconfig
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

# Modules that Lambda's Python runtime already has; a package contains all others.
RUNTIME_DISTRIBUTIONS = (
    *("awslambdaric", "simplejson", "snapshot-restore-py"),
    *("boto3", "botocore", "s3transfer", "jmespath", "python-dateutil", "six", "urllib3"),
)
DEADLINE_SECONDS = 60
_NEXT = "/2018-06-01/runtime/invocation/next"
_FUNCTION_ARN = "arn:aws:lambda:us-east-1:123456789012:function:plaza"
_START = """
import json, os, runpy, sys
sys.path[:] = json.loads(os.environ.pop("VISIBLE_PATHS"))
sys.argv = ["awslambdaric", os.environ["_HANDLER"]]
# As in Lambda, where a package lies on a disk that cannot be written to.
sys.dont_write_bytecode = True
runpy.run_module("awslambdaric", run_name="__main__")
"""


class FunctionFailed(Exception):
    """The function raised, or ended; the message is what it reported."""


@dataclass
class Function:
    """One Lambda function: invocations go in, answers come out."""

    process: "subprocess.Popen[bytes]"
    invocations: "queue.Queue[bytes]"
    answers: "queue.Queue[tuple[bool, bytes]]"
    # Set when the function has been imported and asks for its first invocation.
    ready: threading.Event

    def invoke(self, event: object) -> Any:
        """Return the function's answer to an event; raises FunctionFailed."""
        self.invocations.put(json.dumps(event).encode())
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                succeeded, body = self.answers.get(timeout=0.1)
                if not succeeded:
                    raise FunctionFailed(body.decode())
                return json.loads(body)
            if self.process.poll() is not None:
                raise FunctionFailed(f"the process ended with {self.process.returncode}")
        raise FunctionFailed("no answer in time")


@dataclass
class _Api:
    """The Runtime API of one function; each invocation has the same time-out."""

    deadline_seconds: float
    ready: threading.Event = field(default_factory=threading.Event)
    invocations: "queue.Queue[bytes]" = field(default_factory=queue.Queue)
    answers: "queue.Queue[tuple[bool, bytes]]" = field(default_factory=queue.Queue)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """Return a handler of requests to this Runtime API."""
        return type("Handler", (_Handler,), {"api": self})


class _Handler(BaseHTTPRequestHandler):
    """Answers a function's runtime client; each function has a class of its own, with its `api`."""

    api: _Api
    protocol_version = "HTTP/1.1"
    # An answer in two packets would wait 40 ms for the first one's acknowledgement.
    disable_nagle_algorithm = True

    def handle(self) -> None:
        # A function that is killed leaves its connection open.
        with contextlib.suppress(ConnectionResetError):
            super().handle()

    def do_GET(self) -> None:
        if self.path != _NEXT:
            self.send_error(404)
            return
        self.api.ready.set()
        event = self.api.invocations.get()
        self.send_response(200)
        for name, value in _invocation_headers(self.api.deadline_seconds).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(event)))
        self.end_headers()
        self.wfile.write(event)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.api.answers.put((self.path.endswith("/response"), body))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _invocation_headers(deadline_seconds: float) -> dict[str, str]:
    """Return an invocation's headers; without them the client ends with a segmentation fault."""
    return {
        "Lambda-Runtime-Aws-Request-Id": str(uuid.uuid4()),
        "Lambda-Runtime-Deadline-Ms": str(int((time.time() + deadline_seconds) * 1000)),
        "Lambda-Runtime-Invoked-Function-Arn": _FUNCTION_ARN,
        "Lambda-Runtime-Trace-Id": "Root=1-0-0;Sampled=0",
        "Content-Type": "application/json",
    }


@contextlib.contextmanager
def lambda_function(
    package: Path,
    runtime: Path,
    handler: str,
    deadline_seconds: float = DEADLINE_SECONDS,
    **environment: str,
) -> Iterator[Function]:
    """Run a function of an unzipped package, with nothing else to import but `runtime`."""
    api = _Api(deadline_seconds)
    server = ThreadingHTTPServer(("127.0.0.1", 0), api.handler())
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    visible = [str(package), str(runtime), *standard_library()]
    process = subprocess.Popen(  # noqa: S603 - this very Python
        [sys.executable, "-I", "-S", "-c", _START],
        cwd=package,
        env={
            "PATH": os.environ["PATH"],
            "VISIBLE_PATHS": json.dumps(visible),
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{server.server_port}",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "_HANDLER": handler,
            **environment,
        },
        stdout=subprocess.DEVNULL,
    )
    try:
        yield Function(process, api.invocations, api.answers, api.ready)
    finally:
        process.kill()
        process.wait()
        server.shutdown()
        server.server_close()


def standard_library() -> list[str]:
    """Return the folders of Python's own modules."""
    return [sysconfig.get_paths()["stdlib"], str(sysconfig.get_config_var("DESTSHARED"))]


def link_runtime(folder: Path) -> None:
    """Make a folder with the modules of Lambda's runtime, and no others."""
    for name in RUNTIME_DISTRIBUTIONS:
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
            target = folder / top
            if top != "__pycache__" and not target.exists():
                target.symlink_to(Path(str(found.locate_file(top))))
