"""One node's discussion as tests drive it: through the operations that the routes call."""

import dataclasses
from typing import Any

from chalicelib.comments import nodes
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.discussion import reading
from chalicelib.comments.forms import (
    CommentEdit,
    CommentsQuery,
    NewComment,
    NodeSettings,
    StateChange,
)
from chalicelib.comments.log.acts import Actor
from chalicelib.comments.permissions import viewer
from chalicelib.comments.shapes import (
    Comment,
    CommentPlace,
    Node,
    PageOrder,
    State,
    StoreName,
)
from chalicelib.comments.stores import store_of
from chalicelib.comments.stores.promotion import move
from chalicelib.comments.writing import decisions, edit
from chalicelib.comments.writing.post import post_comment
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

PUBLISHER = Principal("paula", "Paula", frozenset({"publisher"}))
PEOPLE: dict[str | None, Principal | None] = {
    None: None,
    "ann": Principal("ann", "Ann"),
    "bob": Principal("bob", "Bob"),
    "mo": Principal("mo", "Mo", frozenset({"moderator"})),
}


@dataclasses.dataclass(frozen=True)
class Layout:
    """A store, and whether the node in it is threaded."""

    store: StoreName
    threaded: bool

    def __str__(self) -> str:
        return f"{self.store}-{'threaded' if self.threaded else 'flat'}"


LAYOUTS = (
    Layout("documents", threaded=True),
    Layout("documents", threaded=False),
    Layout("embedded", threaded=True),
    Layout("embedded", threaded=False),
    Layout("buckets", threaded=False),
)


@dataclasses.dataclass(frozen=True)
class Discussion:
    """A node and what people do on it."""

    runtime: Runtime
    node_id: str

    @classmethod
    def make(
        cls, runtime: Runtime, layout: Layout, node_id: str = "a-page", **settings: Any
    ) -> "Discussion":
        page = {"title": "A page", "url": "https://blog.example/a-page", **settings}
        wanted = NodeSettings(store=layout.store, threaded=layout.threaded, **page)
        discussion_nodes.put_node(runtime, node_id, wanted, PUBLISHER)
        return cls(runtime, node_id)

    @property
    def node(self) -> Node:
        return nodes.find(self.runtime.database, self.node_id)

    def post(self, text: str, parent: str | None = None, by: str = "ann") -> Comment:
        author = PEOPLE.get(by) or Principal(by, by)
        return post_comment(
            self.runtime, self.node_id, NewComment(text=text, parent=parent), author
        ).comment

    def page(
        self,
        order: PageOrder = "oldest",
        limit: int = 200,
        cursor: str | None = None,
        by: str | None = None,
        around: str | None = None,
    ) -> dict[str, Any]:
        query = CommentsQuery(order=order, limit=limit, cursor=cursor, around=around)
        listing = reading.list_comments(self.runtime, self.node_id, query, PEOPLE[by])
        assert listing.body is not None
        return {**listing.body}

    def thread(
        self, root: str, limit: int = 200, cursor: str | None = None, by: str | None = None
    ) -> dict[str, Any]:
        query = PageQuery(limit=limit, cursor=cursor)
        place = CommentPlace(self.node_id, root)
        listing = reading.list_thread(self.runtime, place, query, PEOPLE[by])
        assert listing.body is not None
        return {**listing.body}

    def get(self, comment_id: str, by: str | None = None) -> Comment:
        """Return a comment as a person sees it."""
        placed = reading.get_comment(self.runtime, self.node_id, comment_id, PEOPLE[by])
        return viewer(PEOPLE[by], placed.node["site"]).view(placed.comment)

    def edit(self, comment_id: str, text: str, by: str = "mo") -> Comment:
        caller = PEOPLE[by]
        assert caller is not None
        placed = edit.edit_comment(
            self.runtime, self.node_id, comment_id, CommentEdit(text=text), caller
        )
        return viewer(caller, placed.node["site"]).view(placed.comment)

    def delete(self, comment_id: str, by: str = "mo") -> None:
        caller = PEOPLE[by]
        assert caller is not None
        edit.delete_comment(self.runtime, self.node_id, comment_id, caller)

    def set_state(self, comment_id: str, state: State) -> Comment:
        moderator = PEOPLE["mo"]
        assert moderator is not None
        wanted = StateChange.model_validate({"state": state})
        actor = Actor(moderator)
        return decisions.set_state(self.runtime, self.node_id, comment_id, wanted, actor).comment

    def move(self, store: StoreName) -> Node:
        return move(self.runtime, self.node_id, store)

    def texts(
        self, order: PageOrder = "oldest", by: str | None = None, limit: int = 200
    ) -> list[str]:
        """Return the texts of the whole listing, read page by page."""
        return [comment["text"] for comment in self.walk(order, limit, by)]

    def walk(
        self, order: PageOrder = "oldest", limit: int = 200, by: str | None = None
    ) -> list[dict[str, Any]]:
        """Read the whole listing page by page."""
        first = self.page(order, limit, None, by)
        found, cursor = first["comments"], first["next"]
        while cursor is not None:
            page = self.page(order, limit, cursor, by)
            found, cursor = found + page["comments"], page["next"]
        return list(found)

    def stored(self) -> dict[str, Comment]:
        """Return every comment that the node's store holds, whatever its state."""
        exported = store_of(self.runtime, self.node).export(self.node)
        return {comment["id"]: comment for batch in exported for comment in batch}
