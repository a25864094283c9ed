"""The form in which a batch is answered, to moderators alone."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.batches.models import BatchId
from chalicelib.comments.log.answers import NamedAnswer, named_answer
from chalicelib.comments.log.batches import Batch, Status
from chalicelib.comments.models import MAX_ACT_REASON_CHARACTERS
from chalicelib.comments.shapes import GivenState
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import StoredSiteId

_Count = Annotated[int, Field(ge=0)]


class BatchAnswer(TypedDict):
    """A batch, and how far it is: `changed`, `unchanged` and `left` make up `total` in the end."""

    id: BatchId
    site: StoredSiteId
    at: datetime
    by: Annotated[NamedAnswer | None, Field(description="Null once they are erased.")]
    state: Annotated[GivenState | None, Field(description="Null for one that undoes another.")]
    person: Annotated[UserId | None, Field(description="Whose comments; null for named ones.")]
    since: datetime | None
    undoes: Annotated[BatchId | None, Field(description="The batch that this one undoes.")]
    reason: Annotated[str, Field(max_length=MAX_ACT_REASON_CHARACTERS)]
    status: Annotated[Status, Field(description="`stopped` if its moderator was erased.")]
    total: _Count
    changed: _Count
    unchanged: Annotated[int, Field(ge=0, description="Comments that were in the state already.")]
    left: Annotated[
        int,
        Field(ge=0, description="Comments that were gone, edited, or decided otherwise since."),
    ]


def batch_answer(batch: Batch) -> BatchAnswer:
    """Return a batch as moderators are shown it."""
    return {
        "id": batch["_id"],
        "site": batch["site"],
        "at": batch["at"],
        "by": named_answer(batch["by"], batch["by_name"]),
        "state": batch["wanted"],
        "person": batch["person"],
        "since": batch["since"],
        "undoes": batch["undoes"],
        "reason": batch["reason"],
        "status": batch["status"],
        "total": batch["total"],
        "changed": batch["changed"],
        "unchanged": batch["unchanged"],
        "left": batch["left"],
    }
