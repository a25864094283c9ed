"""Slow mode: how long a reader waits between two comments of their own in a node.

A comment is counted once it is known to be taken, in the row of its author in the node, so that a
text that is refused costs no wait. Who has to wait is told before anything else is counted.
Moderators of the site do not wait.
"""

from datetime import timedelta

from chalicelib import limits, signing
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.nodes import NODES
from chalicelib.comments.shapes import Node
from chalicelib.comments.sites import settings
from chalicelib.identity import Principal
from chalicelib.limits import Allowance
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates


def check(runtime: Runtime, node_id: str, author: Principal) -> None:
    """Raise TooFast for somebody who has to wait, by the settings of the last seconds."""
    site = site_of(node_id)
    if site is None or moderates(author, site):
        return
    own = _own_seconds(runtime, node_id)
    seconds = settings.of(runtime, site).get("slow_seconds", 0) if own is None else own
    if seconds:
        limits.check(runtime, _allowance(runtime, node_id, author, seconds))


def seconds_for(runtime: Runtime, node: Node, author: Principal) -> int:
    """Return how long somebody waits between two comments in a node; 0 for not at all."""
    if moderates(author, node["site"]):
        return 0
    return settings.in_force(runtime, node).get("slow_seconds", 0)


def count(runtime: Runtime, node: Node, author: Principal, seconds: int) -> None:
    """Count a comment that is about to be stored; raises TooFast, and writes nothing then."""
    limits.count(runtime, [_allowance(runtime, node["_id"], author, seconds)])


def _own_seconds(runtime: Runtime, node_id: str) -> int | None:
    """Return what a node has of its own, of the last seconds."""

    def read() -> int | None:
        found = NODES.of(runtime.database).find_one({"_id": node_id}, {"slow_seconds": 1})
        return None if found is None else found.get("slow_seconds")

    key, lifetime = f"comments.node slow {node_id}", settings.REMEMBERED
    return runtime.memory.recall(key, runtime.now(), lifetime, read)


def _allowance(runtime: Runtime, node_id: str, author: Principal, seconds: int) -> Allowance:
    """Return the allowance of a person in a node, whose row names neither."""
    key = signing.signing_key(runtime.settings.signing_keys)
    named = b"\0".join((b"slow", node_id.encode(), author.id.encode()))
    row_id = f"slow:{signing.tag(named, key, 12).hex()}"
    return Allowance(row_id, 1, timedelta(seconds=seconds))
