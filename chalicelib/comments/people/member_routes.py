"""Completing the names of a discussion's participants, for mentions."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments import nodes
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.people.members import MOST_MATCHES, matching
from chalicelib.http import Input, Ok, Request, Route
from chalicelib.identity import Principal
from chalicelib.people.ids import UserId
from chalicelib.texts import ShownName


class MembersQuery(Input):
    """The beginning of a name."""

    q: str = Field(
        min_length=1,
        max_length=100,
        description="How the name begins; case and accents do not matter.",
        examples=["an"],
    )


class ParticipantAnswer(TypedDict):
    """A participant of a discussion."""

    id: UserId
    name: ShownName


class ParticipantsAnswer(TypedDict):
    """The participants of a discussion with names that begin as asked."""

    people: Annotated[list[ParticipantAnswer], Field(max_length=MOST_MATCHES)]


def declare(route: Route) -> None:
    """Declare the route."""

    @route("GET", "/nodes/{node}/people", raises=(UnknownNode,))
    def find_members(
        request: Request, node: NodeId, caller: Principal, query: MembersQuery
    ) -> Ok[ParticipantsAnswer]:
        """Find participants of a discussion by the beginning of a name: at most ten, by name.

        These are the people with a visible comment there.
        """
        found = nodes.find_for(request.runtime, node, caller)
        members = matching(request.runtime, found, query.q, caller)
        return Ok({"people": [{"id": each.id, "name": each.name} for each in members]})
