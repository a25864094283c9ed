"""The second look at an erased person, once no request of before can be running."""

from datetime import timedelta

import pytest

from chalicelib.comments import personal_data as comments
from chalicelib.jobs import outbox
from chalicelib.people import jobs
from chalicelib.people.features import Step
from chalicelib.people.jobs import EraseLate
from chalicelib.runtime import Runtime
from chalicelib.wiring.people import PEOPLE
from tests.support.http_client import Client

POST = {"type": "status", "detail": {"text": "Hello"}, "circles": ["*public*"]}


def test_a_late_message_of_an_earlier_erasure_leaves_the_later_look(runtime: Runtime) -> None:
    before = EraseLate(user_id="ann", until=runtime.now())
    after = EraseLate(user_id="ann", until=runtime.now() + timedelta(minutes=20))
    for each in (before, after):
        outbox.note(runtime, each, due=each.until + outbox.OUTLIVES_ALL)

    jobs.run(runtime, PEOPLE, before)
    assert noted(runtime, after) == 1

    jobs.run(runtime, PEOPLE, after)
    assert noted(runtime, after) == 0


def test_a_feature_that_fails_keeps_no_other_from_an_erasure(
    runtime: Runtime, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object) -> Step:
        raise ValueError("a comment without its lines")

    assert client.as_("ann", name="Ann").post("/posts", **POST).status == 201
    assert runtime.database["social.post"].count_documents({"deleted": False}) == 1
    monkeypatch.setattr(comments, "erase", fail)

    with pytest.raises(ValueError, match="without its lines"):
        jobs.erase(runtime, PEOPLE, "ann")

    assert runtime.database["social.post"].count_documents({"deleted": False}) == 0


def noted(runtime: Runtime, job: EraseLate) -> int:
    return outbox.JOBS.of(runtime.database).count_documents(outbox.filter_of(job))
