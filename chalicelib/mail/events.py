"""Events of SES: bounces of letters, and complaints of readers about spam.

SES publishes an event to SNS, which passes it unchanged to the queue of letters.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from chalicelib.mail.couriers import ADDRESS_TAG
from chalicelib.mail.rows import REFUSALS, MailRefusal
from chalicelib.observability import metrics
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

_Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,100}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class _Bounce(_Part):
    """`Permanent`: a later letter would come back, too."""

    type: str = Field(alias="bounceType")


class _Complaint(_Part):
    """`not-spam`: the reader took an earlier complaint back."""

    kind: str | None = Field(None, alias="complaintFeedbackType")


class _Tags(_Part):
    address: tuple[_Key, ...] = Field((), alias=ADDRESS_TAG, max_length=1)


class _Mail(_Part):
    tags: _Tags = _Tags()


class MailEvent(_Part):
    """An event of SES: the fields that Plaza reads, and never an address."""

    event: Literal["Bounce", "Complaint"] = Field(alias="eventType")
    mail: _Mail
    bounce: _Bounce | None = None
    complaint: _Complaint | None = None


def apply(runtime: Runtime, event: MailEvent) -> None:
    """Log an event; turn mail off for the address if the event is a refusal (`is_refusal`)."""
    is_complaint = event.event == "Complaint"
    refuses = is_refusal(event)
    if refuses:
        _refuse(runtime, event.mail.tags.address, "complained" if is_complaint else "bounced")
    fields = {
        "letters_bounced": int(not is_complaint),
        "letters_complained_of": int(is_complaint),
        "refuses": refuses,
    }
    log.info("letter came back", extra={"fields": fields, "metrics": metrics.MAIL_EVENTS})


def is_refusal(event: MailEvent) -> bool:
    """Return whether an event says that an address takes no more letters."""
    if event.event == "Bounce":
        return event.bounce is not None and event.bounce.type == "Permanent"
    return event.complaint is None or event.complaint.kind != "not-spam"


def _refuse(runtime: Runtime, keys: Sequence[str], why: Literal["bounced", "complained"]) -> None:
    for key in keys:
        made: MailRefusal = {"_id": key, "why": why, "at": runtime.now()}
        REFUSALS.of(runtime.database).replace_one({"_id": key}, made, upsert=True)


def allow(runtime: Runtime, keys: Sequence[str]) -> None:
    """Delete the refusals of an address with these hashes: it takes letters again."""
    REFUSALS.of(runtime.database).delete_many({"_id": {"$in": list(keys)}})


def takes_mail(runtime: Runtime, keys: Sequence[str]) -> bool:
    """Return whether an address with these hashes takes letters."""
    unwanted = {"_id": {"$in": list(keys)}}
    return REFUSALS.of(runtime.database).find_one(unwanted, {"_id": 1}) is None
