"""Nodes by the addresses of their pages."""

from chalicelib.comments import nodes
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.page_urls import key_of
from chalicelib.comments.shapes import Node
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

# Nodes of one address that a call looks at: more than a publisher makes by mistake.
_MOST = 20
# Nodes that one run of the schedule gives their key.
_AT_ONCE = 1_000


def find(runtime: Runtime, site: str, url: str, caller: Principal | None) -> Node:
    """Return the node of a page at a site, the first by its id that the caller sees.

    Raises UnknownNode.
    """
    where = {"url_key": key_of(url), "site": site, **nodes.OCCUPIED}
    found = nodes.NODES.of(runtime.database).find(where, nodes.WITHOUT_COMMENTS)
    now = runtime.now()
    for node in found.sort("_id", 1).limit(_MOST):
        if nodes.is_visible(node, caller, now):
            return node
    raise UnknownNode


def add_missing_keys(runtime: Runtime) -> int:
    """Give nodes of release 0.3.0 the key of their address; return how many had none."""
    stored = nodes.NODES.of(runtime.database)
    found = list(stored.find({"url_key": None}, {"url": 1}).limit(_AT_ONCE))
    for each in found:
        as_read = {"_id": each["_id"], "url": each["url"]}
        stored.update_one(as_read, {"$set": {"url_key": key_of(each["url"])}})
    return len(found)
