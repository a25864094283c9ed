"""Slow mode: the wait of a reader between two comments of their own in a node.

Only an accepted comment counts, in the row of its author in the node, so that a refused text costs
no wait. An author who has to wait learns it before anything else counts. Moderators of the site do
not wait.
"""

from datetime import timedelta

from chalicelib import limits, signing
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.nodes import NODES
from chalicelib.comments.shapes import Node
from chalicelib.comments.sites import settings
from chalicelib.identity import Principal
from chalicelib.limits import Allowance
from chalicelib.memory import remember
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates


def check(runtime: Runtime, node_id: str, author: Principal) -> None:
    """Raise TooFast for an author who has to wait, by settings that may be seconds old."""
    site = site_of(node_id)
    if site is None or moderates(author, site):
        return
    own = _own_seconds(runtime, node_id)
    seconds = settings.of(runtime, site).get("slow_seconds", 0) if own is None else own
    if seconds:
        limits.check(runtime, _allowance(runtime, node_id, author, seconds))


def seconds_for(runtime: Runtime, node: Node, author: Principal) -> int:
    """Return the seconds between two comments of an author in a node; 0: no wait."""
    if moderates(author, node["site"]):
        return 0
    return settings.in_force(runtime, node).get("slow_seconds", 0)


def count(runtime: Runtime, node: Node, author: Principal, seconds: int) -> None:
    """Count a comment before it is stored. Raises TooFast, without a write."""
    limits.count(runtime, [_allowance(runtime, node["_id"], author, seconds)])


@remember(seconds=5)
def _own_seconds(runtime: Runtime, node_id: str) -> int | None:
    """Return a node's own setting, which may be seconds old; None: the site's setting."""
    found = NODES.of(runtime.database).find_one({"_id": node_id}, {"slow_seconds": 1})
    return None if found is None else found.get("slow_seconds")


def _allowance(runtime: Runtime, node_id: str, author: Principal, seconds: int) -> Allowance:
    """Return the allowance of a person in a node; the id of its row reveals neither."""
    key = signing.signing_key(runtime.settings.signing_keys)
    message = b"\0".join((b"slow", node_id.encode(), author.id.encode()))
    row_id = f"slow:{signing.tag(message, key, 12).hex()}"
    return Allowance(row_id, 1, timedelta(seconds=seconds))
