"""Problems of the API of actions that take some bringing about, each answered once over HTTP."""

from typing import Any

import orjson

from tests.social.activity.support.office import APPLIED, Office
from tests.support.http_client import Reply


def repeated(office: Office, path: str, **body: Any) -> Reply:
    """Send a call of Ann's with an Idempotency-Key that is the same for all calls."""
    ann = office.client.as_("ann")
    key = {"Content-Type": "application/json", "Idempotency-Key": "once"}
    return ann.request("POST", path, body=orjson.dumps(body), headers=key)


def test_an_action_that_was_deleted_is_not_conducted_again(office: Office) -> None:
    first = repeated(office, "/actions", scope="team", descriptor=APPLIED)
    office.delete("ann", first.json["id"])

    again = repeated(office, "/actions", scope="team", descriptor=APPLIED)

    assert (first.status, again.status, again.code) == (201, 404, "unknown_action")


def test_a_comment_that_was_deleted_with_its_action_is_not_made_again(office: Office) -> None:
    path = f"/actions/{office.act('ann')}/comments"
    first = repeated(office, path, text="Great")
    office.delete("ann", path.split("/")[2])
    office.workers.drain()

    again = repeated(office, path, text="Great")

    assert (first.status, again.status, again.code) == (201, 404, "unknown_comment")
