"""The local server's output: each step of its start, and then the pages to open."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from chalice.app import Chalice

from chalicelib import __version__
from chalicelib.runtime import Runtime
from deploy.declared import declared_queues
from local.schedules import declared_schedules
from local.tokens import mint

# A discussion of the demo, several replies deep.
DISCUSSION = "/nodes/harbour-post:lighthouse-cafe/comments"


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Print a step's name and, when the step is done, its seconds."""
    started = time.monotonic()
    print(f"  {name:<13}", end="", flush=True)
    try:
        yield
    except BaseException:
        # The failure's message begins a line of its own.
        print(flush=True)
        raise
    print(f"{time.monotonic() - started:4.1f} s", flush=True)


@dataclass(frozen=True)
class Running:
    """A running server: its address, the folder of its data, and whether it has the demo."""

    address: str
    folder: Path
    has_site: bool

    def announcement(self, details: Mapping[str, str]) -> str:
        """Return the text: the pages to open, the details by name, and further commands."""
        named = {"Log": str(self.folder / "plaza.log"), **details}
        lines = [
            f"Plaza {__version__} is running; Ctrl-C stops it. Open one of these:",
            "",
            *(f"  {what:<44}{self.address}{path}" for what, path in self._opened()),
            "",
            *(f"  {name:<11}{value}" for name, value in named.items()),
            "",
            "script/token --role admin makes an admin's token, for the console and your own calls.",
        ]
        if not details:
            lines.append(
                "script/server --verbose also names what runs: database, queues, schedules."
            )
        return "\n" + "\n".join(lines) + "\n"

    def _opened(self) -> list[tuple[str, str]]:
        reference = ("the reference of the API", "/docs")
        if not self.has_site:
            return [("the API", "/"), reference]
        return [
            ("the Harbour Post: comments, ads and feeds", "/"),
            ("one of its discussions, without scripts", DISCUSSION),
            ("the console of its staff", "/console"),
            reference,
        ]


def details_of(
    app: Chalice, runtime: Runtime, database: str, waiting: Mapping[str, int]
) -> dict[str, str]:
    """Return details of the running server by name; `waiting` counts old messages by queue."""
    kept = ", ".join(f"{count} in {name}" for name, count in waiting.items()) or "none"
    return {
        "MongoDB": database,
        "Queues": ", ".join(source.name for source in declared_queues(app)),
        "Messages": f"{kept} from before",
        "Schedules": ", ".join(
            f"{each.name} ({each.every.total_seconds():.0f} s)" for each in declared_schedules()
        ),
        "Token": mint(runtime.settings, runtime.now(), "demo", roles=["admin"]),
    }
