"""The forms in which votes and reactions are answered, with comments and beside them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.permissions import Rights
from chalicelib.comments.shapes import Comment, CommentSite
from chalicelib.marks.shapes import MAX_REACTIONS, NOTHING, ReactionKey, State


class VotesAnswer(TypedDict):
    """How many voted for and against a comment."""

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
        Field(description="How many reacted, by the keys that the site offers."),
    ]
    mine: Annotated[
        MineAnswer | None,
        Field(description="Null for a call without a token, and where nothing can be marked."),
    ]


class Marks(NamedTuple):
    """The counts of some comments and what a person says to them, by the ids of the comments."""

    counts: Mapping[str, Mapping[str, Any]]
    mine: Mapping[str, State]


def is_marked(settings: CommentSite) -> bool:
    """Return whether readers vote or react where these settings hold."""
    return settings["votes"] != "off" or bool(settings["reactions"])


def no_marks() -> MarksAnswer:
    """Return what is said where nobody votes or reacts."""
    return {"votes": None, "reactions": {}, "mine": None}


def comment_marks(comment: Comment, marks: Marks | None, rights: Rights) -> MarksAnswer:
    """Return the marks of a comment as its site shows them to a caller."""
    if marks is None or comment["state"] != "visible":
        return no_marks()
    author = comment["author"]
    written = {"posted": comment["posted"], "author_id": author["id"] if author else None}
    counts, mine = marks.counts.get(comment["id"], {}), marks.mine.get(comment["id"], NOTHING)
    return marks_answer({**counts, **written}, mine, rights)


def page_marks(page_id: str, marks: Marks | None, rights: Rights) -> MarksAnswer:
    """Return the reactions to the page itself, on which nobody votes."""
    if marks is None:
        return no_marks()
    counts = {**marks.counts.get(page_id, {}), "posted": rights.now}
    found = marks_answer(counts, marks.mine.get(page_id, NOTHING), rights)
    return {**found, "votes": None}


def marks_answer(entry: Mapping[str, Any], mine: State, rights: Rights) -> MarksAnswer:
    """Return the marks of an entry as its site shows them to a caller."""
    offered = {each["key"] for each in rights.settings["reactions"]}
    counts = entry.get("reactions", {})
    said = {"vote": mine.vote, "reactions": [key for key in mine.reactions if key in offered]}
    return {
        "votes": _votes(entry) if _tells_votes(entry, mine, rights) else None,
        "reactions": {key: count for key, count in counts.items() if count and key in offered},
        "mine": cast("MineAnswer", said) if rights.caller else None,
    }


def _votes(entry: Mapping[str, Any]) -> VotesAnswer:
    base = entry.get("base", {"up": 0, "down": 0})
    return {"up": entry.get("up", 0) + base["up"], "down": entry.get("down", 0) + base["down"]}


def _tells_votes(entry: Mapping[str, Any], mine: State, rights: Rights) -> bool:
    """Return whether a caller is told the counts; authors and moderators always are."""
    settings: CommentSite = rights.settings
    if settings["votes"] == "off":
        return False
    caller, shown = rights.caller, settings["votes_shown"]
    if shown == "always" or rights.viewer.moderator:
        return True
    if caller is not None and entry.get("author_id") == caller.id:
        return True
    if shown == "after_vote":
        return mine.vote != 0
    over = entry["posted"] + timedelta(minutes=settings["votes_shown_after_minutes"])
    return bool(over <= rights.now)
