"""The forms in which marks are answered beside pages, and who made them."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.mark_answers import MarksAnswer
from chalicelib.comments.models import CommentId
from chalicelib.comments.voting.models import MAX_MARKED, MAX_REACTED
from chalicelib.http.paging import Next
from chalicelib.people.ids import UserId


class NodeMarksAnswer(TypedDict):
    """What a discussion's readers say to the page, and to some of its comments by their ids."""

    page: MarksAnswer
    comments: Annotated[dict[CommentId, MarksAnswer], Field(max_length=MAX_MARKED)]


class ReactorAnswer(TypedDict):
    """Somebody who reacted."""

    id: UserId


class ReactedAnswer(TypedDict):
    """A page of the people who reacted in one way, in the order of their ids."""

    people: Annotated[list[ReactorAnswer], Field(max_length=MAX_REACTED)]
    next: Next
