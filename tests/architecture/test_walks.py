"""docs/walks.md shows the files that a call passes through, as a trace finds them, and its size.

With PLAZA_TEST_RECORD=1 it is written first: `PLAZA_TEST_RECORD=1 script/test
tests/architecture/test_walks.py`. The sizes in `walk_budgets.json` only fall by that; a higher
one is written there by hand, with its reason in the commit.
"""

import ast
import json
import os
import sys
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest
from chalice.app import Chalice
from chalice.local import LocalChalice

from app import create_app
from chalicelib.runtime import Runtime
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.architecture.house import MODULES, PACKAGE
from tests.content.support import factories as content
from tests.shop.support.buying import SKU, agreement, cart_of, check_out, put_line, stocked
from tests.social.support.drivers import follow, news, publish, settle
from tests.support.commands import Commands
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

PAGE = PACKAGE.parent / "docs" / "walks.md"
BUDGETS = Path(__file__).with_name("walk_budgets.json")
HEAD = """# Walks

The files that a call passes through, in the order of its steps, and the function by which it first
enters each. A trace of the tests made this page (`tests/architecture/test_walks.py`), after one
call that filled the caches of a container.

Lines are those of all functions that the call enters, each counted once. Trips are its commands to
MongoDB: [0255](decisions/0255-round-trips.md) says why some are more than a few. No figure rises
without a reason (`tests/architecture/walk_budgets.json`).
"""


class Step(NamedTuple):
    """A file, and the first of its functions that a call enters."""

    file: str
    function: str


class Walk(NamedTuple):
    """The way of a call: its files in order, the lines of its functions, its commands."""

    title: str
    steps: list[Step]
    lines: int
    trips: int

    @property
    def size(self) -> dict[str, int]:
        return {"files": len(self.steps), "lines": self.lines, "trips": self.trips}


Ways = list[tuple[str, Callable[[], object]]]


def walk(title: str, work: Callable[[], object], commands: Commands) -> Walk:
    """Do a work; return its way through the package."""
    steps: dict[str, Step] = {}
    entered: set[CodeType] = set()
    root = str(PACKAGE)

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and code.co_name[0] != "<":
            file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            steps.setdefault(file, Step(file, code.co_name))
            entered.add(code)

    commands.names.clear()
    sys.setprofile(note)
    try:
        reply = work()
    finally:
        sys.setprofile(None)
    assert not isinstance(reply, Reply) or reply.status < HTTPStatus.BAD_REQUEST, reply.body
    lines = {(each.co_filename, line) for each in entered for *_, line in each.co_lines() if line}
    return Walk(title, list(steps.values()), len(lines), len(commands.names))


def purpose_of(file: str) -> str:
    """Return the first sentence of a file's docstring."""
    name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    text = ast.get_docstring(ast.parse(MODULES[name].read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())


def chapter(way: Walk) -> str:
    rows = [
        f"| {number} | [{step.file}](../chalicelib/{step.file}) | `{step.function}` | "
        f"{purpose_of(step.file)} |"
        for number, step in enumerate(way.steps, 1)
    ]
    table = "\n".join(["| | file | enters by | its purpose |", "|---|---|---|---|", *rows])
    return f"\n## {way.title}\n\n{table}\n"


def summary(walks: list[Walk]) -> str:
    """Return the table of all sizes."""
    rows = [f"| {way.title} | {len(way.steps)} | {way.lines:,} | {way.trips} |" for way in walks]
    return "\n".join(["", "| | files | lines | trips |", "|---|---|---|---|", *rows, ""])


@pytest.fixture
def app(listened: Runtime) -> Chalice:
    return create_app(listened, LocalChalice)


@pytest.fixture
def walks(client: Client, listened: Runtime, workers: Workers, commands: Commands) -> list[Walk]:
    """The ways of calls as today's code goes them, each warm."""
    admin, ann = client.as_("admin", roles=["admin"]), client.as_("ann")
    for node in ("moon", "mars", "harbour:star"):
        admin.put(f"/nodes/{node}", title=node, url="https://a.example/")
        ann.post(f"/nodes/{node}/comments", text="Words.")
    admin.put("/sites/harbour/comments/settings", votes="up_down")
    rated = [ann.post("/nodes/harbour:star/comments", text="Words.").json["id"] for _ in range(2)]
    votes = [f"/nodes/harbour:star/comments/{comment}/vote" for comment in rated]
    client.as_("ben").put(votes[0], value=1)
    settle(client, "ann", "ben")
    follow(client, "ben", "ann")
    publish(client, "ann")
    add_zones(listened, "blog/banner")
    put_campaign(listened, "mercedes:spring")
    activate(listened, "mercedes:spring")
    content.set_up(client)
    editor = content.editor(client)
    content.published(editor, "mars")
    content.published(editor, "moon")
    stocked(client, 9)
    cart, other = cart_of(client, MOBY_HARD=1), cart_of(client, MOBY_HARD=1)
    check_out(client, other, agreement(1), "other")
    workers.drain()
    for path in ("/nodes/mars/comments", "/ads/blog/banner"):
        client.get(path)
    content.read(client, "mars")
    news(client, "ben")
    first: Ways = [
        ("A reader opens a discussion", lambda: client.get("/nodes/moon/comments")),
        ("A reader comments", lambda: ann.post("/nodes/moon/comments", text="More words.")),
        ("A reader votes", lambda: client.as_("ben").put(votes[1], value=1)),
        ("A page asks for an ad", lambda: client.get("/ads/blog/banner")),
        ("A reader opens a page by its address", lambda: content.read(client, "moon")),
    ]
    social: Ways = [
        ("A user posts", lambda: publish(client, "ann")),
        ("A worker delivers the post", workers.drain),
        ("A follower reads the news", lambda: news(client, "ben")),
    ]
    shop: Ways = [
        ("A visitor puts a piece into a cart", lambda: put_line(client, cart, SKU, 2)),
        ("A visitor checks out", lambda: check_out(client, cart, agreement(2))),
    ]
    walked: list[Walk] = []
    for ways in (first, social, shop):
        walked += [walk(title, work, commands) for title, work in ways]
        workers.drain()
    return walked


def test_the_page_shows_the_steps_of_today_and_no_walk_is_longer(walks: list[Walk]) -> None:
    page = HEAD + summary(walks) + "".join(chapter(each) for each in walks)
    sizes = {way.title: way.size for way in walks}
    budgets: dict[str, dict[str, int]] = json.loads(BUDGETS.read_text())
    if os.environ.get("PLAZA_TEST_RECORD"):
        PAGE.write_text(page)
        budgets = {title: lower(size, budgets.get(title, size)) for title, size in sizes.items()}
        BUDGETS.write_text(json.dumps(budgets, indent=2) + "\n")

    assert sizes == budgets
    assert PAGE.read_text() == page, "write it again, as this file's docstring says"


def lower(size: dict[str, int], budget: dict[str, int]) -> dict[str, int]:
    return {name: min(each, budget[name]) for name, each in size.items()}
