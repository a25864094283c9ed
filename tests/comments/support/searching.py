"""Searches that tests make, and the rows of words as tests look at them."""

from typing import Any

from chalicelib.comments import nodes
from chalicelib.comments.entries.comparing import Difference
from chalicelib.comments.jobs import run_due
from chalicelib.comments.terms import upkeep
from chalicelib.comments.terms.rows import TERMS
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.searching import walk_search

SITE = "blog"
SEARCH = f"/sites/{SITE}/search"
SETTINGS = f"/sites/{SITE}/comments/settings"
NONE = Difference()


def post(client: Client, node: str, text: str, **body: Any) -> str:
    """Post a comment; return its path."""
    reply = client.post(f"{node}/comments", text=text, **body)
    assert reply.status == 201, reply.body
    return f"{node}/comments/{reply.json['id']}"


def found(reader: Client, words: str, limit: int = 20) -> list[str]:
    """Return the excerpts of all comments with some words, page by page."""
    return walk_search(reader, SEARCH, words, limit, "comments", "excerpt")


def rows(runtime: Runtime) -> dict[str, list[str]]:
    """Return the stored words by the ids of their rows."""
    return {row["_id"]: row["terms"] for row in TERMS.of(runtime.database).find()}


def difference(runtime: Runtime) -> Difference:
    """Return how the rows of all nodes differ from their comments."""
    compared = upkeep.compare_nodes(runtime, is_repairing=False)
    assert compared.pop("next") is None
    return Difference(**compared)


def node_of(runtime: Runtime, path: str) -> Any:
    """Return the node of a path."""
    return nodes.find(runtime.database, path.split("/")[2])


def the_schedule(runtime: Runtime, clock: Clock, times: int = 3) -> None:
    """Let the schedule run when no call of before can be at work."""
    for _ in range(times):
        clock.advance(minutes=61)
        run_due(runtime)
