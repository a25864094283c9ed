"""The second look at an erased person, once no request of before can be running."""

from datetime import timedelta

from chalicelib.jobs import outbox
from chalicelib.people import jobs
from chalicelib.people.jobs import EraseLate
from chalicelib.runtime import Runtime
from chalicelib.wiring.people import PEOPLE


def test_a_late_message_of_an_earlier_erasure_leaves_the_later_look(runtime: Runtime) -> None:
    before = EraseLate(user_id="ann", until=runtime.now())
    after = EraseLate(user_id="ann", until=runtime.now() + timedelta(minutes=20))
    for each in (before, after):
        outbox.note(runtime, each, due=each.until + outbox.OUTLIVES_ALL)

    jobs.run(runtime, PEOPLE, before)
    assert noted(runtime, after) == 1

    jobs.run(runtime, PEOPLE, after)
    assert noted(runtime, after) == 0


def noted(runtime: Runtime, job: EraseLate) -> int:
    return outbox.JOBS.of(runtime.database).count_documents(outbox.filter_of(job))
