"""Versions of the topics that a page shows: one request for all elements of the page.

A new version says that a topic has changed, and shows none of its content. The page then reads the
content by its usual request, with the permissions of that request.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, NamedTuple

import orjson
from chalice.app import Blueprint
from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict

from chalicelib import signing
from chalicelib.http import Input, NotModified, Ok, Request, conditional, everybody, router
from chalicelib.identity import Principal
from chalicelib.notifications import inbox
from chalicelib.notifications.routes import Counted
from chalicelib.runtime import Runtime

MOST_TOPICS = 20
MAX_VERSION_CHARACTERS = 64
_INBOX, _NEWS, _NODE = "inbox", "news", "node:"
_VERSION_BYTES = 9
# A shared cache may serve the answer to an unidentified caller for 2 s. An active page reads
# versions every 8 s, and so sees a change within 10 s.
_SHARED, _OWN = "public, max-age=2", "private, no-cache"

Topic = Annotated[
    str,
    Field(
        pattern=r"^(inbox|news|node:[A-Za-z0-9._~:-]{1,256})$",
        max_length=261,
        description="`inbox`: your notifications. `news`: your news, whose version is the id of "
        "the newest post. `node:ID`: the comments of a node.",
        examples=["node:harbour-post:ferry-timetable"],
    ),
]
Version = Annotated[str, Field(max_length=MAX_VERSION_CHARACTERS)]


class Reads(NamedTuple):
    """The reads behind topics of other features.

    - `nodes`: returns the version of each node that the caller sees, by node id.
    - `news`: returns the id of the newest post in a person's news; None: no post.
    """

    nodes: Callable[[Runtime, Sequence[str], Principal | None], Mapping[str, str]]
    news: Callable[[Runtime, str], str | None]


def _split(value: object) -> object:
    return value.split(",") if isinstance(value, str) else value


_Some = Field(min_length=1, max_length=MOST_TOPICS)
_Listed = BeforeValidator(_split, json_schema_input_type=Annotated[list[Topic], _Some])


class ChangesQuery(Input):
    """The topics of a page."""

    topics: Annotated[tuple[Topic, ...], _Some, _Listed] = Field(description="Separated by commas.")


class InboxNumbers(TypedDict):
    """The numbers of your inbox; 100: a hundred or more."""

    unread: Counted
    unseen: Counted


class ChangesAnswer(TypedDict):
    """A version for each topic; null: you see nothing there.

    A version that differs from the last one says that something has changed.
    """

    versions: Annotated[dict[Topic, Version | None], Field(max_length=MOST_TOPICS)]
    inbox: Annotated[
        InboxNumbers | None, Field(description="null: no topic is `inbox`, or nobody is signed in.")
    ]


def routes(runtime: Runtime, reads: Reads) -> Blueprint:
    """Return the blueprint of changes."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Notifications")

    @route("GET", "/changes", of_one_site=everybody)
    def get_changes(
        request: Request, caller: Principal | None, query: ChangesQuery
    ) -> Ok[ChangesAnswer] | NotModified:
        """Ask whether anything is new: for up to 20 topics at once, with a 304 if nothing is.

        Votes, reactions, and changes by the passing of time alone do not change a version.
        """
        body = _answer(request.runtime, reads, caller, query.topics)
        tag = f'"{_digest(request.runtime, body)}"'
        cache = _SHARED if caller is None else _OWN
        headers = {"ETag": tag, "Cache-Control": cache, "Vary": "Authorization"}
        if tag in conditional.held_tags(request):
            return NotModified(headers=headers)
        return Ok(body, headers)

    return blueprint


def _answer(
    runtime: Runtime, reads: Reads, caller: Principal | None, topics: Sequence[str]
) -> ChangesAnswer:
    node_ids = [each.removeprefix(_NODE) for each in topics if each.startswith(_NODE)]
    found = reads.nodes(runtime, node_ids, caller) if node_ids else {}
    versions: dict[str, str | None] = dict.fromkeys(topics)
    versions |= {f"{_NODE}{node_id}": version for node_id, version in found.items()}
    numbers: InboxNumbers | None = None
    if caller and _NEWS in topics:
        versions[_NEWS] = reads.news(runtime, caller.id)
    if caller and _INBOX in topics:
        state = inbox.look(runtime, caller.id)
        versions[_INBOX] = _digest(runtime, [caller.id, *state])
        numbers = {"unread": state.unread, "unseen": state.unseen}
    return {"versions": versions, "inbox": numbers}


def _digest(runtime: Runtime, state: object) -> str:
    """Return a keyed hash of a state, which reveals nothing of the state."""
    message = b"changes\0" + orjson.dumps(state, option=orjson.OPT_SORT_KEYS)
    keys = runtime.settings.signing_keys
    return signing.encode(signing.state_tag(message, keys, _VERSION_BYTES))
