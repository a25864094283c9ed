"""A letter with texts of strangers: names, titles and comments are shown, and do nothing else."""

from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from typing import Any, get_args

import pytest
from selectolax.lexbor import LexborHTMLParser

from chalicelib.languages import Language, direction
from chalicelib.mail.letters import Draft
from chalicelib.mail.mime import PostedLetter, message_of
from chalicelib.notifications.event_words import EVENT_WORDS
from chalicelib.notifications.groups import GroupActor
from chalicelib.notifications.inbox import InboxRow
from chalicelib.notifications.letter import html_of, subject_of, text_of
from chalicelib.notifications.mailing import MailSetting
from chalicelib.notifications.rows import Kind
from chalicelib.notifications.words import MAIL_WORDS
from tests.notifications.support.mailbox import ANN, thing

URL = "https://plaza.example/notifications/mail/stop?token=A.B"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOSTILE = (
    "Ben\r\nBcc: bo@plaza.example",
    "Ben\x00\x1b[31m\x85\u2028\u2029end",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</bdi></body><h1>Pay here</h1>",
    "{name.__class__} {0} %s {{link}}",
    "\u202eexe.txt\u2066\u2069\u2069\u200f",
    "=?utf-8?q?Ben=0D=0ABcc:_bo@plaza.example?=",
    "\u05e9\u05dc\u05d5\u05dd 123",
    "x" * 5_000,
)


def setting(language: Language = "en") -> MailSetting:
    return {
        "_id": "ann",
        "every": "daily",
        "hour": 8,
        "weekday": 1,
        "time_zone": "UTC",
        "language": language,
        "is_confirmed": True,
        "changed": NOW,
        "since": NOW,
        "wakes": 1,
        "email": ANN,
    }


def row(kind: Kind = "comment.reply", /, **changes: str) -> InboxRow:
    item: Any = {"_id": "ann:1", "kind": kind, "by": "ben"}
    shown = thing("1", **changes)
    return InboxRow(item, shown, 1, (GroupActor("ben", shown.by_name),), is_read=False)


def made(shown: list[InboxRow], language: Language = "en") -> tuple[str, str, str]:
    of = setting(language)
    return subject_of(of, shown), text_of(of, shown, URL), html_of(of, shown, URL)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("field", ["by_name", "page_title", "text", "permalink"])
def test_a_text_of_a_stranger_is_text(hostile: str, field: str) -> None:
    subject, text, html = made([row(**{field: hostile})])
    draft = Draft("one", "notifications", ANN, subject, text, "en", html, URL)
    raw = message_of(PostedLetter("one", ANN, subject, text, "en", "key", html, URL), ANN)
    letter: Any = message_from_bytes(raw, policy=default)

    assert draft.subject == letter["Subject"]
    assert sorted(set(letter.keys())) == [
        "Auto-Submitted",
        "Content-Language",
        "Content-Type",
        "From",
        "List-Unsubscribe",
        "List-Unsubscribe-Post",
        "MIME-Version",
        "Subject",
        "To",
    ]
    assert len(subject) <= 150
    page = LexborHTMLParser(html)
    assert page.css("script, img, h1, style, iframe, form") == []
    links = [each.attributes["href"] for each in page.css("a")]
    assert set(links) <= {URL, "https://a.example/#plaza-1"}
    for each in (subject, text, html):
        assert not any(mark in each for mark in "\u202e\u2066\u200f\x00\x1b\x85\u2028\u2029")


def test_names_and_titles_of_another_direction_stay_apart() -> None:
    _, text, html = made([row(by_name="\u05d1\u05df", page_title="\u05e1\u05e4\u05e8")])

    assert "\u2068\u05d1\u05df\u2069 replied to you" in text
    assert "<bdi>\u05d1\u05df</bdi> replied to you" in html
    assert "<bdi>\u05e1\u05e4\u05e8</bdi>" in html


@pytest.mark.parametrize("url", ["javascript:alert(1)", "", "/relative", "https://a b/"])
def test_only_addresses_of_the_web_are_links(url: str) -> None:
    _, text, html = made([row(permalink=url)])

    assert [each.attributes["href"] for each in LexborHTMLParser(html).css("a")] == [URL]
    assert url == "" or url not in text


def test_a_long_text_is_shown_line_by_line() -> None:
    _, text, html = made([row(text="One\n\n  two  \nthree")])

    assert "\n> One\n> two\n> three\n" in text
    assert "One<br>two<br>three" in html


@pytest.mark.parametrize(
    "long", ['"' * 100_000, "&'" * 50_000, "x\n" * 50_000, "\U0001f319" * 100_000]
)
@pytest.mark.parametrize("path", ["", '"' * 2_000, '"' * 100_000])
def test_however_long_its_things_are_a_letter_is_one_that_the_mail_room_takes(
    long: str, path: str
) -> None:
    url = f"https://a.example/{path}"
    one = row(by_name=long, page_title=long, text=long, permalink=url)
    many = one._replace(actors=(GroupActor("ben", long),) * 3, people=100)
    subject, text, html = made([many] * 100)

    Draft("one", "notifications", ANN, subject, text, "en", html, URL)
    assert text.count("replied to you") == html.count("replied to you") == 20
    assert (f"{url}\n" in text) == (len(path) < 100_000), "a link is whole, or not there"


@pytest.mark.parametrize("language", get_args(Language))
def test_each_language_has_all_words_in_their_places(language: Language) -> None:
    words = MAIL_WORDS[language]
    assert all(words)
    assert "{link}" in words.letter
    assert "{email}" in words.question
    heads = set()
    for kind in get_args(Kind):
        subject, text, html = made([row(kind)], language)
        assert ("Ben" in subject) == ("{name}" in EVENT_WORDS[language][kind])
        assert URL in text
        heads.add(subject)
        assert f'<html lang="{language}" dir="{direction(language)}">' in html
    assert len(heads) == len(get_args(Kind))
    assert made([row(), row()], language)[0] == f"{words.notifications} (2)"


@pytest.mark.parametrize(
    ("people", "named"), [(1, "Ben"), (2, "Ben, Cy"), (3, "Ben, Cy, Dee"), (4, "Ben, Cy, Dee (4)")]
)
def test_a_group_names_its_newest_people_and_counts_all(people: int, named: str) -> None:
    actors = tuple(GroupActor(each, each.title()) for each in ("ben", "cy", "dee"))
    group = row("post.reaction")._replace(people=people, actors=actors[:people])

    assert made([group])[0] == f"Reactions to your post: {named}: Moon"
    assert made([group._replace(people=100)])[0].endswith("(99+): Moon")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_name_in_a_group_is_text(hostile: str) -> None:
    group = row("follow")._replace(actors=(GroupActor("ben", hostile), GroupActor("cy", hostile)))
    subject, text, html = made([group])

    assert LexborHTMLParser(html).css("script, img, h1, style, iframe, form") == []
    for each in (subject, text, html):
        assert not any(mark in each for mark in "\u202e\u2066\u200f\x00\x1b\x85\u2028\u2029")


def test_there_are_words_for_every_language_and_kind() -> None:
    assert set(MAIL_WORDS) == set(EVENT_WORDS) == set(get_args(Language))
    for language, words in EVENT_WORDS.items():
        assert list(words) == list(get_args(Kind))
        named = {kind for kind, sentence in words.items() if "{name}" in sentence}
        assert named == {kind for kind, text in EVENT_WORDS["en"].items() if "{name}" in text}, (
            language
        )


def test_an_event_that_no_person_caused_names_none() -> None:
    shown = InboxRow(
        {**row().item, "kind": "order.paid", "by": ""}, thing("1"), 0, (), is_read=False
    )

    assert made([shown])[0] == "Your order is paid: Moon"
    assert "Ben" not in made([shown])[2]
