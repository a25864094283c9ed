"""Workers that ask a service may end anywhere, or meet; so may what they are asked about."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import SecretStr

from chalicelib.comments import jobs
from chalicelib.comments.sites import settings as site_settings
from chalicelib.comments.sites.forms import CommentSettings
from chalicelib.comments.spam import checking
from chalicelib.comments.spam_check.origins import ORIGINS
from chalicelib.comments.spam_check.services import Answer
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.checking import SITE_URL, Service, go_on, origins, write
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.discussion import LAYOUTS, Discussion
from tests.comments.support.entries import NONE, difference
from tests.support.clock import Clock


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"akismet_key": SecretStr("a-key")})


@pytest.fixture
def discussion(runtime: Runtime) -> Discussion:
    site_settings.put(runtime, "default", CommentSettings(spam_check_url=SITE_URL))
    return Discussion.make(runtime, LAYOUTS[0])


def test_workers_at_once_ask_once(runtime: Runtime, discussion: Discussion) -> None:
    write(runtime, discussion)
    (row,) = origins(runtime)
    meeting, service = threading.Barrier(4), Service("spam")

    def work(_number: int) -> None:
        meeting.wait()
        checking.run(runtime, row["_id"], service)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))

    assert service.asked == ["hello"]
    (comment,) = discussion.stored().values()
    assert comment["state"] == "spam"


STATES: dict[Answer, str] = {"ham": "visible", "spam": "spam", "unknown": "pending"}


@pytest.mark.parametrize("answer", STATES)
def test_a_check_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock, answer: Answer
) -> None:
    service, last = Service(answer), write(runtime, discussion)

    def call(ending: Runtime) -> None:
        checking.run(ending, f"{discussion.node_id}/{last}", service)

    for _ in crash_everywhere(runtime, mongodb_uri, call):
        for _try in range(3):
            go_on(runtime, clock, service)
        # What ended within a change, the schedule makes agree.
        clock.advance(minutes=16)
        jobs.run_due(runtime)
        assert discussion.stored()[last]["state"] == STATES[answer]
        assert difference(discussion) == NONE
        assert not [row for row in origins(runtime) if "task" in row]
        last = write(runtime, discussion)


def test_a_post_that_is_checked_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    service = Service("ham")

    for _ in crash_everywhere(runtime, mongodb_uri, lambda ending: write(ending, discussion)):
        go_on(runtime, clock, service)
        clock.advance(minutes=16)
        jobs.run_due(runtime)
        assert {each["state"] for each in discussion.stored().values()} <= {"visible"}
        assert difference(discussion) == NONE


def test_a_correction_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    service = Service("ham")

    def filed() -> str:
        comment = write(runtime, discussion)
        go_on(runtime, clock, service)
        discussion.set_state(comment, "spam")
        service.asked.clear()
        return comment

    last = filed()

    def call(ending: Runtime) -> None:
        checking.run(ending, f"{discussion.node_id}/{last}", service)

    for _ in crash_everywhere(runtime, mongodb_uri, call):
        go_on(runtime, clock, service)
        # Twice at most, if the call was made and not noted.
        assert service.asked in (["spam hello"], ["spam hello"] * 2)
        (row,) = ORIGINS.of(runtime.database).find({"comment_id": last})
        assert (row["answer"], "task" in row) == ("spam", False)
        last = filed()
