"""The forms in which votes and reactions are answered."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.permissions import Rights
from chalicelib.comments.shapes import CommentSite
from chalicelib.comments.voting.models import MAX_REACTED, Key
from chalicelib.http.pages import Next
from chalicelib.marks.shapes import MAX_REACTIONS, State
from chalicelib.people.ids import UserId


class VotesAnswer(TypedDict):
    """How many voted for and against a comment."""

    up: Annotated[int, Field(ge=0)]
    down: Annotated[int, Field(ge=0)]


class MineAnswer(TypedDict):
    """The caller's own vote, 0 for none, and reactions; these are always exact."""

    vote: Literal[-1, 0, 1]
    reactions: Annotated[list[Key], Field(max_length=MAX_REACTIONS)]


class MarksAnswer(TypedDict):
    """The votes on a comment, and the reactions to it or to a page.

    Where many vote at once, counts follow within seconds.
    """

    votes: Annotated[
        VotesAnswer | None,
        Field(description="Null where nobody votes, and while the site does not show them."),
    ]
    reactions: Annotated[
        dict[str, int],
        Field(description="How many reacted, by the keys that the site offers."),
    ]
    mine: Annotated[MineAnswer | None, Field(description="Null for a call without a token.")]


class NodeMarksAnswer(TypedDict):
    """What a discussion's readers say to the page, and to some of its comments by their ids."""

    page: MarksAnswer
    comments: dict[str, MarksAnswer]


class ReactorAnswer(TypedDict):
    """Somebody who reacted."""

    id: UserId


class ReactedAnswer(TypedDict):
    """A page of the people who reacted in one way, in the order of their ids."""

    people: Annotated[list[ReactorAnswer], Field(max_length=MAX_REACTED)]
    next: Next


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
