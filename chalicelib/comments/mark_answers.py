"""Votes and reactions as answers show them, within comments and on their own."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.permissions import Rights
from chalicelib.comments.shapes import MAX_REACTIONS as MAX_OFFERED
from chalicelib.comments.shapes import Comment, CommentSite
from chalicelib.marks.shapes import MAX_REACTIONS, NOTHING, ReactionKey, State


class VotesAnswer(TypedDict):
    """The numbers of votes for and against a comment."""

    up: Annotated[int, Field(ge=0)]
    down: Annotated[int, Field(ge=0)]


class MineAnswer(TypedDict):
    """The caller's own vote, 0 for none, and reactions; these are always exact."""

    vote: Literal[-1, 0, 1]
    reactions: Annotated[list[ReactionKey], Field(max_length=MAX_REACTIONS)]


class MarksAnswer(TypedDict):
    """The votes on a comment, and the reactions to it or to a page.

    Where many vote at once, counts follow within seconds.
    """

    votes: Annotated[
        VotesAnswer | None,
        Field(
            description="Null where nobody votes, and while the site does not show them, and of a "
            "comment that is not visible."
        ),
    ]
    reactions: Annotated[
        dict[ReactionKey, int],
        Field(
            max_length=MAX_OFFERED,
            description="How many reacted, by the keys that the site offers.",
        ),
    ]
    mine: Annotated[
        MineAnswer | None,
        Field(description="Null for a call without a token, and where nothing can be marked."),
    ]


class Marks(NamedTuple):
    """Counts of marks, and a person's own marks, by the ids of comments."""

    counts: Mapping[str, Mapping[str, Any]]
    mine: Mapping[str, State]


class Written(NamedTuple):
    """The time of posting and the author of a comment."""

    posted: datetime
    author_id: str | None


def is_marked(settings: CommentSite) -> bool:
    """Return whether readers vote or react under these settings."""
    return settings["votes"] != "off" or bool(settings["reactions"])


def no_marks() -> MarksAnswer:
    """Return the answer for a place without votes and reactions."""
    return {"votes": None, "reactions": {}, "mine": None}


def comment_marks(comment: Comment, marks: Marks | None, rights: Rights) -> MarksAnswer:
    """Return the marks of a comment as its site shows them to a caller."""
    if marks is None or comment["state"] != "visible":
        return no_marks()
    author = comment["author"]
    counts, mine = marks.counts.get(comment["id"], {}), marks.mine.get(comment["id"], NOTHING)
    written = Written(comment["posted"], author["id"] if author else None)
    return marks_answer(counts, mine, rights, written)


def page_marks(page_id: str, marks: Marks | None, rights: Rights) -> MarksAnswer:
    """Return the reactions to the page itself, which has no votes."""
    if marks is None:
        return no_marks()
    counts, mine = marks.counts.get(page_id, {}), marks.mine.get(page_id, NOTHING)
    found = marks_answer(counts, mine, rights, Written(rights.now, None))
    return {**found, "votes": None}


def marks_answer(
    entry: Mapping[str, Any], mine: State, rights: Rights, written: Written | None = None
) -> MarksAnswer:
    """Return the marks of an entry as its site shows them to a caller.

    `written`: None takes the time and the author from the entry.
    """
    offered = {each["key"] for each in rights.settings["reactions"]}
    counts = dict(entry.get("reactions") or {})
    if mine.is_shadowed:
        # A shadowed caller's reactions count for that caller alone.
        for key in mine.reactions:
            counts[key] = counts.get(key, 0) + 1
    own: MineAnswer | None = None
    if rights.caller:
        kept = [key for key in mine.reactions if key in offered]
        own = {"vote": cast("Literal[-1, 0, 1]", mine.vote), "reactions": kept}
    if written is None:
        written = Written(entry["posted"], entry["author_id"])
    return {
        "votes": _votes(entry, mine) if _shows_votes(written, mine, rights) else None,
        "reactions": {k: n for k, n in counts.items() if n and k in offered},
        "mine": own,
    }


def _votes(entry: Mapping[str, Any], mine: State) -> VotesAnswer:
    base, own = entry.get("base", {}), mine.vote if mine.is_shadowed else 0
    up, down = (entry.get(side, 0) + base.get(side, 0) for side in ("up", "down"))
    return {"up": up + (own > 0), "down": down + (own < 0)}


def _shows_votes(written: Written, mine: State, rights: Rights) -> bool:
    """Return whether a caller sees the counts; with votes on, authors and moderators always do."""
    settings: CommentSite = rights.settings
    if settings["votes"] == "off":
        return False
    caller, shown = rights.caller, settings["votes_shown"]
    if shown == "always" or rights.viewer.moderator:
        return True
    if caller is not None and written.author_id == caller.id:
        return True
    if shown == "after_vote":
        return mine.vote != 0
    over = written.posted + timedelta(minutes=settings["votes_shown_after_minutes"])
    return over <= rights.now
