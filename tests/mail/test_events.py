"""Letters that come back: which of them turn mail off, and for whom."""

from typing import Any

import pytest

from chalicelib.mail import events
from chalicelib.mail.events import MailEvent
from chalicelib.mail.rows import REFUSALS
from chalicelib.runtime import Runtime


def event_of(**event: Any) -> MailEvent:
    return MailEvent.model_validate({"mail": {"tags": {"address": ["a-key"]}}, **event})


PERMANENT = {"eventType": "Bounce", "bounce": {"bounceType": "Permanent"}}
COMPLAINT = {"eventType": "Complaint", "complaint": {"complaintFeedbackType": "abuse"}}


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (PERMANENT, "bounced"),
        (COMPLAINT, "complained"),
        ({"eventType": "Complaint", "complaint": {}}, "complained"),
        ({"eventType": "Complaint"}, "complained"),
    ],
)
def test_an_address_that_refuses_gets_no_more_letters(
    runtime: Runtime, event: dict[str, Any], why: str
) -> None:
    for _ in range(2):
        events.apply(runtime, event_of(**event))

    assert not events.takes_mail(runtime, ["another-key", "a-key"])
    assert [each["why"] for each in REFUSALS.of(runtime.database).find()] == [why]


@pytest.mark.parametrize(
    "event",
    [
        {"eventType": "Bounce", "bounce": {"bounceType": "Transient"}},
        {"eventType": "Bounce", "bounce": {"bounceType": "Undetermined"}},
        {"eventType": "Bounce"},
        {"eventType": "Complaint", "complaint": {"complaintFeedbackType": "not-spam"}},
        {**PERMANENT, "mail": {"tags": {}}},
        {**PERMANENT, "mail": {}},
    ],
)
def test_what_says_nothing_of_later_letters_turns_nothing_off(
    runtime: Runtime, event: dict[str, Any]
) -> None:
    events.apply(runtime, event_of(**event))

    assert events.takes_mail(runtime, ["a-key"])
    assert REFUSALS.of(runtime.database).count_documents({}) == 0


def test_an_address_may_be_allowed_again(runtime: Runtime) -> None:
    events.apply(runtime, event_of(**PERMANENT))
    events.allow(runtime, ["a-key", "another-key"])

    assert events.takes_mail(runtime, ["a-key"])
