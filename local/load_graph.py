"""Load people's real circles from files, into the local server's database or another.

The files are those of the ego networks of the Stanford Large Network Dataset Collection: in
`<ego>.circles` each line has a circle's name and its members' numbers, divided by tabs; in
`<ego>.edges` each line has two people who are friends. Everything goes through the same
operations as the API's calls.
"""

import argparse
import dataclasses
import itertools
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TextIO, TypeVar

from chalicelib.database.migration import migrate
from chalicelib.identity import Principal
from chalicelib.messaging import Message, Queues
from chalicelib.runtime import Runtime
from chalicelib.settings import InvalidSettings
from chalicelib.social.graph import circles, memberships, users
from chalicelib.wiring import schema
from local.failures import StartupFailure
from local.local_secrets import FOLDER, local_secrets
from local.mongod import uri_of_running
from local.stack import check_database

Item = TypeVar("Item")

FRIENDS = "friends"
_BAR_WIDTH = 40


class Tie(NamedTuple):
    """A member of an owner's circle."""

    owner: str
    circle: str
    member: str


def read_circles(folder: Path) -> Iterator[Tie]:
    """Yield the members of each ego's circles; a circle's id is its name in the file."""
    for file in sorted(folder.glob("*.circles")):
        for line in file.read_text().splitlines():
            circle, *members = line.split()
            # A line may have a member twice; an owner is no member of their own circle.
            for member in sorted(set(members) - {file.stem}):
                yield Tie(file.stem, circle, member)


def read_friends(folder: Path) -> Iterator[Tie]:
    """Yield each friendship as two people, each in the other's circle of friends."""
    for file in sorted(folder.glob("*.edges")):
        for line in file.read_text().splitlines():
            one, other = line.split()
            if one != other:
                yield Tie(one, FRIENDS, other)
                yield Tie(other, FRIENDS, one)


def load(runtime: Runtime, ties: Iterable[Tie], report: TextIO = sys.stderr) -> Counter[str]:
    """Load ties through the operations; return how many users, circles and members there are."""
    wanted = list(dict.fromkeys(ties))
    people = sorted({*(tie.owner for tie in wanted), *(tie.member for tie in wanted)})
    for person in _with_bar("users", people, report):
        users.ensure(runtime, Principal(person, f"Person {person}"))
    made = sorted({(tie.owner, tie.circle) for tie in wanted})
    for owner, circle in _with_bar("circles", made, report):
        circles.put(runtime, owner, circle, circle)
    for tie in _with_bar("members", wanted, report):
        memberships.add_member(runtime, tie.owner, tie.circle, tie.member)
    return Counter(users=len(people), circles=len(made), members=len(wanted))


def _with_bar(label: str, items: list[Item], report: TextIO) -> Iterator[Item]:
    """Yield the items; on a terminal, show how many there have been."""
    for number, item in enumerate(items, start=1):
        yield item
        if report.isatty() and (number % 50 == 0 or number == len(items)):
            done = "#" * (_BAR_WIDTH * number // len(items))
            report.write(f"\r{label:8} [{done:{_BAR_WIDTH}}] {number}/{len(items)}")
            report.flush()
    if report.isatty():
        report.write("\n")


class _Later(Queues):
    """Sends nothing: jobs are recorded in the database, where the server's sweep finds them."""

    def send(self, *_messages: Message) -> bool:
        return False


def _runtime() -> Runtime:
    """Return a runtime over PLAZA_MONGODB_URI, or else over the database of the local server.

    Raises InvalidSettings, and StartupFailure if there is no such database.
    """
    uri = os.environ.get("PLAZA_MONGODB_URI") or uri_of_running(FOLDER / "mongodb")
    if not uri:
        raise StartupFailure("script/server is not running, and PLAZA_MONGODB_URI is not set")
    check_database(uri)
    environment = {**os.environ, **local_secrets(os.environ), "PLAZA_MONGODB_URI": uri}
    runtime = Runtime.from_environment(environment)
    return dataclasses.replace(runtime, queues=_Later(runtime.settings.queue_prefix))


def main() -> None:
    """Load a folder into the database of the settings and print counts."""
    parser = argparse.ArgumentParser(prog="script/load-graph", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the .circles and .edges files are")
    parser.add_argument("--friends", action="store_true", help="load the .edges files as well")
    given = parser.parse_args()
    folder = Path(os.environ.get("PLAZA_CALLED_FROM", "")) / given.folder
    if not any(folder.glob("*.circles")):
        sys.exit(f"{folder} has no .circles files")
    try:
        runtime = _runtime()
    except (InvalidSettings, StartupFailure) as failure:
        sys.exit(f"Nothing was loaded: {failure}")
    migrate(runtime.database, schema.collections(runtime.settings), schema.FAMILIES)
    ties: Iterable[Tie] = read_circles(folder)
    if given.friends:
        ties = itertools.chain(ties, read_friends(folder))
    for name, count in load(runtime, ties).items():
        print(f"{name}: {count}")


if __name__ == "__main__":
    main()
