"""Akismet by HTTP: what it is told, and that whatever it does is an answer."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from chalicelib.comments.spam_check.akismet import Akismet
from chalicelib.comments.spam_check.services import Facts
from tests.comments.support.akismet_stand_in import KEY, AkismetStandIn, Mood, running

FACTS = Facts(
    site_url="https://blog.example/",
    page_url="https://blog.example/moon",
    is_reply=True,
    text="hello & good-bye",
    posted=datetime(2026, 11, 22, 8, 15, tzinfo=UTC),
    author_name="Ann",
    address="192.0.2.7",
    agent="A browser",
)


@pytest.fixture
def stand_in() -> Iterator[AkismetStandIn]:
    with running() as akismet:
        yield akismet


def test_it_is_told_who_wrote_what_where(stand_in: AkismetStandIn) -> None:
    assert Akismet(stand_in.url, KEY).check(FACTS) == "ham"

    assert stand_in.asked == [
        (
            "comment-check",
            {
                "api_key": KEY,
                "blog": "https://blog.example/",
                "user_ip": "192.0.2.7",
                "user_agent": "A browser",
                "permalink": "https://blog.example/moon",
                "comment_type": "reply",
                "comment_author": "Ann",
                "comment_content": "hello & good-bye",
                "comment_date_gmt": "2026-11-22T08:15:00Z",
                "blog_charset": "UTF-8",
            },
        )
    ]


def test_spam_may_be_so_sure_that_nobody_has_to_look(stand_in: AkismetStandIn) -> None:
    akismet = Akismet(stand_in.url, KEY)
    stand_in.spam.add(FACTS.text)
    assert akismet.check(FACTS) == "spam"

    stand_in.discarded.add(FACTS.text)
    assert akismet.check(FACTS) == "discard"


def test_it_is_corrected(stand_in: AkismetStandIn) -> None:
    akismet = Akismet(stand_in.url, KEY)

    assert akismet.correct(FACTS, "ham")
    assert akismet.correct(FACTS, "spam")
    assert [operation for operation, _ in stand_in.asked] == ["submit-ham", "submit-spam"]


@pytest.mark.parametrize("mood", ["garbage", "failing", "trickling", "hanging up"])
def test_what_is_no_answer_says_nothing(stand_in: AkismetStandIn, mood: Mood) -> None:
    stand_in.mood = mood
    akismet = Akismet(stand_in.url, KEY, seconds=0.3)

    assert akismet.check(FACTS) == "unknown"
    assert not akismet.correct(FACTS, "spam")
    assert len(stand_in.asked) == 2


def test_another_key_is_no_answer(stand_in: AkismetStandIn) -> None:
    assert Akismet(stand_in.url, "another").check(FACTS) == "unknown"


def test_nobody_there_is_no_answer() -> None:
    with running() as gone:
        url = gone.url

    assert Akismet(url, KEY).check(FACTS) == "unknown"


def test_a_call_leaves_no_thread_behind(stand_in: AkismetStandIn) -> None:
    Akismet(stand_in.url, KEY, seconds=600).check(FACTS)

    assert not [each for each in threading.enumerate() if isinstance(each, threading.Timer)]


def test_facts_do_not_say_who_it_was_in_a_trace() -> None:
    assert "192.0.2.7" not in repr(FACTS)
    assert "browser" not in repr(FACTS)
