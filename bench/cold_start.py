"""How each function of a package starts, under AWS's own runtime client: script/cold-start.

A process is a container: it imports the package from a disk that it cannot write to, makes its
connection in its first invocation, and answers a second one with all of that behind it.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import app as lambdas
from bench import reach
from bench.machine import commit, machine
from bench.stage import fresh_stage
from bench.tables import table
from chalicelib import __version__
from chalicelib.http.front import GREEDY, PARAMETER
from chalicelib.jobs.schedules import event_of
from chalicelib.messaging import Message
from deploy.declared import ROOT, Api, Scheduled, Worker, declared_functions
from deploy.package import package
from deploy.wheels import ARCHITECTURES
from local.lambda_runtime import lambda_function, link_runtime

STAGE = "prod"
_START_SECONDS = 120
_SECRET = "a secret of the bench that guards nothing"  # noqa: S105

COLUMNS = ("function", "import ms", "of the processor", "first answer ms", "second answer ms")
# Milliseconds until a container asks for work, by the clock and of the processor, then until
# its first answer, and then until its second.
Start = tuple[float, float, float, float]
# What runs by itself; a command is asked for.
Container = Api | Worker | Scheduled


def main(arguments: Sequence[str] | None = None) -> None:
    """Package the functions, start each of them some times, and print the medians.

    Exits with a line for each function that loads more modules for nothing than before.
    """
    parser = argparse.ArgumentParser(prog="script/cold-start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="starts of each function")
    parser.add_argument("--check", action="store_true", help="only see that imports are of use")
    parser.add_argument("--record", action="store_true", help="lower the bounds of useless imports")
    given = parser.parse_args(arguments)
    found = reach.unreached_by_function()
    if given.record:
        reach.lower_budgets(found)
    if faults := [*reach.faults(found, reach.read_budgets())]:
        sys.exit("\n".join(faults))
    if given.check or given.record:
        return
    with tempfile.TemporaryDirectory(prefix="plaza-cold-") as folder:
        content, size = _unpacked(Path(folder))
        runtime = Path(folder) / "runtime"
        runtime.mkdir()
        link_runtime(runtime)
        with fresh_stage(Path(folder) / "stage") as stage:
            settings = stage.runtime.settings
            about = machine(stage.runtime.database, stage.folder)

            def start(function: Container) -> Start:
                uri = settings.mongodb_uri.get_secret_value()
                return _start(content, runtime, function, uri, settings.database)

            rows = [
                _row(function, start, given.rounds)
                for function in declared_functions(lambdas.app, STAGE)
                if isinstance(function, Container)
            ]
    print(f"{commit()}; {', '.join(about.values())}; {size}; medians of {given.rounds} starts\n")
    print(table(COLUMNS, rows))


def _unpacked(folder: Path) -> tuple[Path, str]:
    """Make the package; return the folder of its content, and how large it is."""
    # It starts on this machine.
    machines = {machine: name for name, machine in ARCHITECTURES.items()}
    package(STAGE, folder, machines.get(platform.machine(), platform.machine()))
    content = folder / "content"
    with zipfile.ZipFile(folder / "deployment.zip") as archive:
        archive.extractall(content)
        unpacked = sum(entry.file_size for entry in archive.infolist())
    packed = (folder / "deployment.zip").stat().st_size
    return content, f"zip of {packed / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked"


def _row(function: Container, start: Callable[[Container], Start], rounds: int) -> tuple[str, ...]:
    starts = [start(function) for _ in range(rounds)]
    return (
        function.name,
        *(f"{statistics.median(each):.0f}" for each in zip(*starts, strict=True)),
    )


def _start(content: Path, runtime: Path, function: Container, uri: str, database: str) -> Start:
    handler = "app.app" if isinstance(function, Api) else f"app.{function.name}"
    began = time.perf_counter()
    with lambda_function(
        content,
        runtime,
        handler,
        PLAZA_MONGODB_URI=uri,
        PLAZA_DATABASE=database,
        PLAZA_JWT_SECRET=_SECRET,
        PLAZA_SIGNING_KEYS=_SECRET,
    ) as container:
        if not container.ready.wait(_START_SECONDS):
            raise TimeoutError(f"{function.name} did not start")
        imported = time.perf_counter()
        cpu_ms = _cpu_ms(container.process.pid)
        container.invoke(_event(function))
        first = time.perf_counter()
        container.invoke(_event(function))
        second = time.perf_counter()
    return (imported - began) * 1000, cpu_ms, (first - imported) * 1000, (second - first) * 1000


def _cpu_ms(process: int) -> float:
    """Return the processor's time that a process has taken, which no neighbour lengthens."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    user, system = map(int, fields[11:13])
    return (user + system) * 1000 / os.sysconf("SC_CLK_TCK")


def _event(function: Container) -> dict[str, Any]:
    """Return an event that asks the database and has little to do there."""
    if isinstance(function, Api):
        return _request("nodes/nowhere")
    if isinstance(function, Worker):
        record = {"messageId": "m", "receiptHandle": "r", "body": _message(function)}
        return {"Records": [{**record, "attributes": {}}]}
    return event_of(function.schedules[0].name)


def _request(path: str) -> dict[str, Any]:
    context = {"httpMethod": "GET", "resourcePath": GREEDY, "identity": {}}
    return {
        "requestContext": {**context, "requestId": "r", "path": f"/{path}"},
        "headers": {},
        "multiValueQueryStringParameters": None,
        "pathParameters": {PARAMETER: path},
        "stageVariables": None,
        "body": None,
        "isBase64Encoded": False,
    }


def _kinds(kind: type[Message]) -> Iterator[type[Message]]:
    """Yield the messages below a kind that name a queue; others only share fields."""
    for each in kind.__subclasses__():
        if hasattr(each, "queue"):
            yield each
        yield from _kinds(each)


def _message(worker: Worker) -> str:
    """Return a message of the worker's queue, as this release's recording has it."""
    recording = ROOT / "tests" / "recorded_messages" / f"{__version__}.json"
    queue = str(worker.source.queue)
    # Loads the worker, and so the classes of its messages.
    getattr(lambdas, worker.name)
    kinds = [kind for kind in _kinds(Message) if queue.endswith(kind.queue)]
    messages = json.loads(recording.read_text())["messages"]
    # By shape: the recording has the names that classes had then.
    fitting = (
        each["body"] for each in messages if any(_fits(kind, each["body"]) for kind in kinds)
    )
    return json.dumps(next(fitting))


def _fits(kind: type[Message], body: dict[str, Any]) -> bool:
    try:
        kind.model_validate_json(json.dumps(body))
    except ValidationError:
        return False
    return True


if __name__ == "__main__":
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    main()
