"""The progress of a fan-out for its author, and failed fan-outs for staff."""

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from pymongo import ASCENDING
from typing_extensions import TypedDict

from chalicelib.database import Collection, Document
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors, page_of
from chalicelib.runtime import Runtime
from chalicelib.social.delivery.leases import Delivered
from chalicelib.social.delivery.state import FanOut


class FanOutAnswer(TypedDict):
    """The progress of the delivery of a post or an action to its readers."""

    state: Annotated[
        Literal["pending", "delivering", "done", "failed"],
        Field(description="`failed`: nothing is delivered any more until staff retry it."),
    ]
    delivered: Annotated[int, Field(ge=0, description="The number of readers who have it.")]
    total: Annotated[
        int, Field(ge=0, description="The number of all its readers; 0 until the count.")
    ]
    reason: NotRequired[
        Annotated[
            Annotated[str, Field(max_length=500)] | None,
            Field(
                description="The error that it failed with; shown to social moderators alone.",
                examples=["NotInserted"],
            ),
        ]
    ]


def fan_out_answer(stored: FanOut, *, staff: bool) -> FanOutAnswer:
    """Return a stored fan-out as the API shows it; only staff see the reason of a failure."""
    sizes = [chunk["size"] for chunk in stored["chunks"]]
    answer: FanOutAnswer = {
        "state": stored["state"],
        "delivered": sum(sizes[number] for number in stored["chunks_done"]),
        "total": sum(sizes),
    }
    if staff:
        answer["reason"] = stored["reason"]
    return answer


def failed_page(
    runtime: Runtime, collection: Collection[Delivered], fields: Sequence[str], query: PageQuery
) -> tuple[Sequence[Document], str | None]:
    """Return a page of documents with a failed fan-out, by id, and the cursor of the next page.

    Each document has only `_id`, `fields` and `fan_out`. Cursor None: no next page. Raises
    InvalidCursor.
    """
    cursors = Cursors(f"failed:{collection.name}", runtime.settings.signing_keys)
    (after,) = cursors.position(query) or ("",)
    where: Document = {"fan_out.state": "failed", "_id": {"$gt": after}}
    rows = collection.of(runtime.database).find(where, [*fields, "fan_out"])
    found: list[Document] = [{**row} for row in rows.sort("_id", ASCENDING).limit(query.limit + 1)]
    page, last = page_of(found, query.limit)
    return page, cursors.following([last["_id"]] if last else None)
