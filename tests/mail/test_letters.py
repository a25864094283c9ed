"""A letter: once at most, whatever comes twice, crashes or fails."""

import threading
from typing import Any

import pytest
from chalice.app import Chalice
from pymongo.errors import AutoReconnect

from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.mail import events, letters
from chalicelib.mail.letters import Draft
from chalicelib.mail.rows import LETTERS
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from local.schedules import run_schedule
from tests.mail.support.stand_in import Crashed, StandIn, draft
from tests.support.clock import Clock
from tests.support.workers import Workers

OF_A_LETTER_AT_ITS_END = {"_id", "kind", "state", "address_keys", "queued", "expires"}


def row_of(runtime: Runtime, letter_id: str = "letter-1") -> Document:
    found: Any = LETTERS.of(runtime.database).find_one({"_id": letter_id})
    return dict(found)


def test_a_letter_is_sent_by_the_worker(
    runtime: Runtime, workers: Workers, courier: StandIn
) -> None:
    letters.queue(runtime, draft())
    assert courier.carried == []
    workers.drain()

    (sent,) = courier.carried
    assert (sent.to, sent.subject, sent.language) == ("ann@plaza.example", "Hello", "en")
    assert (sent.html, sent.stop_url) == ("<p>Read.</p>\n", "https://plaza.example/stop")
    assert row_of(runtime)["state"] == "sent"


def test_a_letter_at_its_end_has_neither_address_nor_text(
    runtime: Runtime, workers: Workers, courier: StandIn
) -> None:
    courier.outcomes = ["sent", "rejected", "unknown"]
    for number in range(3):
        letters.queue(runtime, draft(number))
    workers.drain()

    for number in range(3):
        assert row_of(runtime, f"letter-{number}").keys() == OF_A_LETTER_AT_ITS_END


def test_a_letter_that_is_queued_twice_is_sent_once(
    runtime: Runtime, workers: Workers, courier: StandIn
) -> None:
    letters.queue(runtime, draft())
    letters.queue(runtime, draft())
    workers.drain()
    letters.queue(runtime, draft())
    workers.drain()

    assert len(courier.carried) == 1


def test_two_workers_at_once_send_a_letter_once(runtime: Runtime, courier: StandIn) -> None:
    letters.queue(runtime, draft())
    begun = threading.Barrier(8)

    def work() -> None:
        begun.wait()
        letters.send(runtime, "letter-1")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(courier.carried) == 1


def test_a_letter_whose_worker_died_is_unknown_and_never_sent_again(
    app: Chalice, runtime: Runtime, workers: Workers, courier: StandIn, clock: Clock
) -> None:
    letters.queue(runtime, draft())
    courier.outcomes = [Crashed()]
    with pytest.raises(Crashed):
        letters.send(runtime, "letter-1")

    letters.send(runtime, "letter-1")
    workers.drain()
    assert row_of(runtime)["state"] == "sending"
    clock.advance(minutes=5)
    assert run_schedule(app, "tend_mail") == {"letters_unknown": 1, "letters_late": 0}
    workers.drain()

    assert len(courier.carried) == 1
    assert row_of(runtime).keys() == OF_A_LETTER_AT_ITS_END
    assert row_of(runtime)["state"] == "unknown"


def test_a_worker_that_is_still_sending_is_left_alone(
    app: Chalice, runtime: Runtime, courier: StandIn, clock: Clock
) -> None:
    letters.queue(runtime, draft())
    courier.outcomes = [Crashed()]
    with pytest.raises(Crashed):
        letters.send(runtime, "letter-1")

    clock.advance(minutes=4, seconds=59)
    run_schedule(app, "tend_mail")

    assert row_of(runtime)["state"] == "sending"


def test_a_letter_that_was_certainly_not_taken_waits_and_is_sent_later(
    app: Chalice, runtime: Runtime, workers: Workers, courier: StandIn, clock: Clock
) -> None:
    letters.queue(runtime, draft())
    courier.outcomes = [Unavailable(), Unavailable()]
    with pytest.raises(Unavailable):
        letters.send(runtime, "letter-1")
    assert row_of(runtime)["state"] == "waiting"

    workers.drain()
    clock.advance(minutes=2)
    run_schedule(app, "tend_mail")
    workers.drain()

    assert row_of(runtime)["state"] == "sent"
    assert len(courier.carried) == 1


def test_a_letter_whose_address_cannot_be_looked_up_waits_and_is_sent_later(
    app: Chalice, runtime: Runtime, workers: Workers, courier: StandIn, clock: Clock
) -> None:
    def fail(*_: Any) -> bool:
        raise AutoReconnect

    letters.queue(runtime, draft())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(events, "takes_mail", fail)
        before = row_of(runtime)
        with pytest.raises(AutoReconnect):
            letters.send(runtime, "letter-1")
    # No claim to take back, which a failing database may not take.
    assert row_of(runtime) == before
    assert before["state"] == "waiting"

    clock.advance(minutes=2)
    run_schedule(app, "tend_mail")
    workers.drain()

    assert row_of(runtime)["state"] == "sent"
    assert len(courier.carried) == 1


def test_a_letter_that_nobody_takes_for_an_hour_is_late(
    app: Chalice,
    runtime: Runtime,
    courier: StandIn,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Queues, "send", lambda *_: False)
    letters.queue(runtime, draft())
    clock.advance(minutes=59)
    run_schedule(app, "tend_mail")
    assert row_of(runtime)["state"] == "waiting"
    clock.advance(minutes=1)
    assert run_schedule(app, "tend_mail") == {"letters_unknown": 0, "letters_late": 1}

    letters.send(runtime, "letter-1")
    assert courier.carried == []
    assert row_of(runtime).keys() == OF_A_LETTER_AT_ITS_END


def test_workers_that_were_stopped_for_an_hour_send_no_letter_before_the_schedule_ends_it(
    app: Chalice, runtime: Runtime, workers: Workers, courier: StandIn, clock: Clock
) -> None:
    letters.queue(runtime, draft())
    clock.advance(hours=1)
    workers.drain()
    assert courier.carried == []

    assert run_schedule(app, "tend_mail") == {"letters_unknown": 0, "letters_late": 1}


def test_nothing_is_sent_to_an_address_that_refuses(
    runtime: Runtime, workers: Workers, courier: StandIn
) -> None:
    letters.queue(runtime, draft(1))
    refused = events.MailEvent.model_validate(
        {
            "eventType": "Bounce",
            "bounce": {"bounceType": "Permanent"},
            "mail": {"tags": {"address": row_of(runtime)["address_keys"]}},
        }
    )
    events.apply(runtime, refused)
    letters.queue(runtime, draft(2, "ANN@plaza.example"))
    letters.queue(runtime, draft(3, "bob@plaza.example"))
    workers.drain()

    assert [each.to for each in courier.carried] == ["bob@plaza.example"]
    assert row_of(runtime, "letter-2")["state"] == "unwanted"
    assert row_of(runtime, "letter-2").keys() == OF_A_LETTER_AT_ITS_END


@pytest.mark.parametrize(
    "wrong",
    [
        {"to": "ann@plaza.example\r\nBcc: bob@plaza.example"},
        {"to": "änn@plaza.example"},
        {"subject": "Hello\r\nBcc: bob@plaza.example"},
        {"subject": "Hello\u2028there"},
        {"language": "en\nX-Header: 1"},
        {"kind": "trial\n"},
        {"id": "../letter"},
        {"text": "x" * 100_001},
        {"html": "x" * 500_001},
        {"stop_url": "https://plaza.example/stop>\r\nBcc: bob@plaza.example"},
        {"stop_url": "https://plaza.example/stop>, <https://elsewhere.example/"},
        {"stop_url": "https://plaza.example/" + "x" * 900},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_no_head_of_a_letter_makes_another_head(wrong: dict[str, str]) -> None:
    given = {**vars(draft()), **wrong}

    with pytest.raises(ValueError, match="a letter's") as refused:
        Draft(**given)
    assert "bob@" not in str(refused.value)
