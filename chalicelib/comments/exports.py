"""A person's comments, acts and standing as their export of personal data shows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.comments.log.rows import Act, Batch
from chalicelib.comments.people.links import Confirmation
from chalicelib.comments.people.rows import Person
from chalicelib.comments.shapes import Comment, Node, State
from chalicelib.comments.spam_check.origins import Origin
from chalicelib.comments.store import state_for_author
from chalicelib.comments.stores.embedded_tree import every_comment
from chalicelib.comments.watches import Watch
from chalicelib.people.features import ExportEntry, entry


@dataclass(frozen=True)
class OfAuthor:
    """An author's own part of documents that several authors may share."""

    user_id: str

    def row(self, row: Any) -> list[ExportEntry]:
        """Return a comment of the `documents` store if the author wrote it."""
        return self._own(row["node_id"], [row])

    def page(self, page: Mapping[str, Any]) -> list[ExportEntry]:
        """Return the author's comments of a page in the `buckets` store."""
        return self._own(page["node_id"], page["comments"])

    def node(self, node: Node) -> list[ExportEntry]:
        """Return the author's comments inside a node's document."""
        return self._own(node["_id"], every_comment(node["metadata"]))

    def _own(self, node_id: str, comments: Iterable[Comment]) -> list[ExportEntry]:
        return [
            entry(
                "comment",
                node_id=node_id,
                id=comment["id"],
                parent_id=comment["parent_id"],
                reply_to=comment.get("reply_to"),
                posted_at=comment["posted"],
                edited_at=comment["edited"],
                author=comment["author"],
                text=comment["text"],
                state=_exported_state(comment),
            )
            for comment in comments
            if comment["author"] and comment["author"]["id"] == self.user_id
        ]


def _exported_state(comment: Comment) -> State:
    """Return the state that the author may see: spam as hidden, since only staff may know."""
    state = state_for_author(comment)
    return "hidden" if state == "spam" else state


def person(row: Person) -> list[ExportEntry]:
    """Return a person's own data at a site, without the moderators' notes and shadowing."""
    status = "ok" if row["status"] == "shadowed" else row["status"]
    return [
        entry(
            "person_at_site",
            site=row["site"],
            name=row["name"],
            status=status,
            until=row["until"],
            badges=row["badges"],
            first_at=row["first_at"],
            picture=row.get("picture"),
            blocked=row.get("blocked", []),
            address_confirmed_at=row.get("confirmed_at"),
        )
    ]


def past(row: Person) -> list[ExportEntry]:
    """Return a guest or imported person that the account has claimed."""
    fields = {"site": row["site"], "id": row["user_id"], "name": row["name"]}
    return [entry("person_of_before", **fields, joined_at=row.get("joined_at"))]


def origin(row: Origin) -> list[ExportEntry]:
    """Return a comment's address and user agent, stored for spam checks."""
    fields = {"node_id": row["node_id"], "id": row["comment_id"], "at": row["at"]}
    return [entry("comment_origin", **fields, address=row["address"], agent=row["agent"])]


def batch(row: Batch) -> list[ExportEntry]:
    """Return a batch that the person began as a moderator, without its targets."""
    fields = {"site": row["site"], "at": row["at"], "wanted": row["wanted"]}
    return [entry("moderation_batch", **fields, reason=row["reason"])]


def act(row: Act) -> list[ExportEntry]:
    """Return an act of the person as a moderator, without its target."""
    fields = {"site": row["site"], "at": row["at"], "action": row["action"]}
    return [entry("moderation_act", **fields, reason=row["reason"])]


def link(row: Confirmation) -> list[ExportEntry]:
    """Return an unused link or code, without the mail address, which only the letter has."""
    fields = {"site": row["site"], "name": row["name"], "return_to": row["return_to"]}
    return [entry("link_in_letter", **fields, language=row["language"], expires=row["expires"])]


def watch(row: Watch) -> list[ExportEntry]:
    """Return a person's watch of a discussion or thread, with its level of notifications."""
    fields = {"node_id": row["node_id"], "thread": row["thread"] or None}
    return [entry("watch", **fields, level=row["level"], since=row["since"])]
