"""Each kind of write that changes what readers of a discussion are shown."""

from collections.abc import Callable

from chalicelib.comments import personal_data, repair
from chalicelib.comments.discussion import highlighting
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.rendered import RENDERER
from chalicelib.comments.stores import store_of
from chalicelib.identity import Principal
from tests.comments.support.discussion import PUBLISHER, Discussion

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
_MODERATOR = Principal("mo", "Mo", frozenset({"moderator"}))


def prepare(discussion: Discussion) -> None:
    """Fill a discussion with what the writes are about: bob's comments, old HTML among them."""
    root = discussion.post("root")
    threaded = discussion.node["threaded"]
    discussion.post("of bob", root["id"] if threaded else None, by="bob")
    discussion.set_state(discussion.post("waits", by="bob")["id"], "pending")
    old = discussion.post("*rendered* before", by="bob")["id"]
    store_of(discussion.runtime, discussion.node).change(
        discussion.node, old, {"html": "old", "renderer": "old"}, {"renderer": RENDERER}
    )


def _first(discussion: Discussion) -> str:
    return str(discussion.page()["comments"][0]["id"])


def _reply(discussion: Discussion) -> None:
    discussion.post("reply", _first(discussion) if discussion.node["threaded"] else None)


def _of_bob(discussion: Discussion, text: str) -> str:
    found = [each["id"] for each in discussion.walk(by="mo") if each["text"] == text]
    return str(found[0])


def _settings(discussion: Discussion, **settings: object) -> None:
    wanted = NodeSettings.model_validate({**PAGE, **settings})
    discussion_nodes.put_node(discussion.runtime, discussion.node_id, wanted, PUBLISHER)


def _miscount(discussion: Discussion) -> None:
    """Repair counts that were wrong, once the node is quiet."""
    nodes = discussion.runtime.database["comments.node"]
    past = discussion.runtime.now().replace(year=2020)
    nodes.update_one({}, {"$set": {"counts.visible": 77, "written": past}})
    assert repair.repair_counts(discussion.runtime) == 1


def _move(discussion: Discussion) -> None:
    other = {"documents": "embedded", "embedded": "documents", "buckets": "documents"}
    discussion.move(other[discussion.node["store"]])  # type: ignore[arg-type]


WRITES: dict[str, Callable[[Discussion], object]] = {
    "post": lambda here: here.post("new"),
    "reply": _reply,
    "edit": lambda here: here.edit(_of_bob(here, "of bob"), "changed"),
    "edit of what waits": lambda here: here.edit(_of_bob(here, "waits"), "changed"),
    "delete": lambda here: here.delete(_first(here)),
    "hide": lambda here: here.set_state(_of_bob(here, "of bob"), "hidden"),
    "approve": lambda here: here.set_state(_of_bob(here, "waits"), "visible"),
    "lock": lambda here: _settings(here, locked=True),
    "retitle": lambda here: _settings(here, title="Another title"),
    "render again": lambda here: repair.render_again(here.runtime),
    "rename": lambda here: personal_data.rename(here.runtime, "bob", "Bobby"),
    "erase": lambda here: personal_data.erase(here.runtime, "bob"),
    "repair": _miscount,
    "move": _move,
    "pin": lambda here: highlighting.pin(here.runtime, here.node_id, _first(here), _MODERATOR),
}
