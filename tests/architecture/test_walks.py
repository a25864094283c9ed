"""docs/walks.md shows the files that a call passes through, as a trace finds them.

With PLAZA_TEST_RECORD=1 it is written first: `PLAZA_TEST_RECORD=1 script/test
tests/architecture/test_walks.py`.
"""

import ast
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

from chalicelib.runtime import Runtime
from tests.architecture.house import MODULES, PACKAGE
from tests.shop.support.buying import SKU, cart_of, put_line, stocked
from tests.social.support.drivers import follow, news, publish, settle
from tests.support.http_client import Client
from tests.support.workers import Workers

PAGE = PACKAGE.parent / "docs" / "walks.md"
HEAD = """# Walks

The files that a call passes through, in the order of its steps, and the function by which it first
enters each. A trace of the tests made this page (`tests/architecture/test_walks.py`), after one
call that filled the caches of a container.
"""


class Step(NamedTuple):
    """A file, and the first of its functions that a call enters."""

    file: str
    function: str


def trace(work: Callable[[], object]) -> list[Step]:
    """Do a work; return the package's files that it enters, in order."""
    steps: dict[str, Step] = {}
    root = str(PACKAGE)

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and code.co_name[0] != "<":
            file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            steps.setdefault(file, Step(file, code.co_name))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return list(steps.values())


def purpose_of(file: str) -> str:
    """Return the first sentence of a file's docstring."""
    name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    text = ast.get_docstring(ast.parse(MODULES[name].read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())


def chapter(title: str, steps: list[Step]) -> str:
    rows = [
        f"| {number} | [{step.file}](../chalicelib/{step.file}) | `{step.function}` | "
        f"{purpose_of(step.file)} |"
        for number, step in enumerate(steps, 1)
    ]
    table = "\n".join(["| | file | enters by | its purpose |", "|---|---|---|---|", *rows])
    return f"\n## {title}\n\n{len(steps)} files.\n\n{table}\n"


@pytest.fixture
def page(client: Client, runtime: Runtime, workers: Workers) -> str:
    """The page as today's code makes it."""
    del runtime
    admin, ann = client.as_("admin", roles=["admin"]), client.as_("ann")
    for node in ("moon", "mars"):
        admin.put(f"/nodes/{node}", title=node, url=f"https://a.example/{node}")
        ann.post(f"/nodes/{node}/comments", text="Words.")
    settle(client, "ann", "ben")
    follow(client, "ben", "ann")
    publish(client, "ann")
    stocked(client)
    put_line(client, cart_of(client), SKU, 1)
    workers.drain()
    client.get("/nodes/mars/comments")
    news(client, "ben")
    cart = cart_of(client)
    walks: list[tuple[str, Callable[[], object]]] = [
        ("A reader opens a discussion", lambda: client.get("/nodes/moon/comments")),
        ("A reader comments", lambda: ann.post("/nodes/moon/comments", text="More words.")),
        ("A user posts", lambda: publish(client, "ann")),
        ("A worker delivers the post", workers.drain),
        ("A follower reads the news", lambda: news(client, "ben")),
        ("A visitor puts a piece into a cart", lambda: put_line(client, cart, SKU, 1)),
    ]
    return HEAD + "".join(chapter(title, trace(work)) for title, work in walks)


def test_the_page_shows_the_steps_of_today(page: str) -> None:
    if os.environ.get("PLAZA_TEST_RECORD"):
        PAGE.write_text(page)

    assert PAGE.read_text() == page, "write it again, as this file's docstring says"
