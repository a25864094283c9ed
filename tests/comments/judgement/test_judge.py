"""The judge, as a table: a text and settings, and what becomes of the text."""

from typing import Any, cast

import pytest

from chalicelib.comments.errors import TextRefused
from chalicelib.comments.judgement import QUICKEST_MS, JudgedText, Judgement, WriterStanding, judge
from chalicelib.comments.rendering import render
from chalicelib.comments.shapes import CommentSite, Reason
from chalicelib.comments.sites.forms import CommentSettings

HOLD = {"phrase": "casino", "action": "hold"}
REJECT = {"phrase": "slots*", "action": "reject"}
PHRASES = {"phrases": [HOLD, REJECT]}
LINKS = "[a](https://a.example) [b](https://b.example)"
SHOWN = Judgement("visible", [])


def site(**wanted: Any) -> CommentSite:
    settings = CommentSettings(**wanted).model_dump(mode="json")
    return cast("CommentSite", {"_id": "blog", **settings})


def verdict(
    text: str,
    wanted: dict[str, Any],
    *,
    by_moderator: bool = False,
    decoy: str = "",
    open_ms: int | None = None,
) -> Judgement:
    written = JudgedText(text, render(text), decoy, open_ms)
    return judge(written, WriterStanding(by_moderator, trust=1), site(**wanted))


@pytest.mark.parametrize(
    ("text", "wanted", "reasons"),
    [
        ("hello", {}, []),
        (LINKS, {}, []),
        ("casino", {}, []),
        ("hello", PHRASES, []),
        ("a Casino", PHRASES, ["phrase"]),
        # Marks within a word, an entity, and the address of a link.
        ("ca**si**no", PHRASES, ["phrase"]),
        ("c*a*s_i_n~~o", PHRASES, ["phrase"]),
        ("ca\\s\\*ino", PHRASES, ["phrase"]),
        ("c&#97;sino", PHRASES, ["phrase"]),
        ("[here](https://casino.example)", PHRASES, ["phrase"]),
        (LINKS, {"max_links": 2}, []),
        (LINKS, {"max_links": 1}, ["links"]),
        ("<https://a.example>", {"max_links": 0}, ["links"]),
        ("https://a.example www.a.example", {"max_links": 1}, ["links"]),
        ("![](https://a.example/b.png)", {"max_links": 0}, ["links"]),
        ("<a href", {"max_links": 0}, []),
        ("hello", {"moderation": "before"}, ["before"]),
        (
            f"casino {LINKS}",
            {**PHRASES, "max_links": 1, "moderation": "before"},
            ["phrase", "links", "before"],
        ),
    ],
)
def test_a_text_is_held_for_these_reasons(
    text: str, wanted: dict[str, Any], reasons: list[str]
) -> None:
    state = "pending" if reasons else "visible"
    assert verdict(text, wanted) == (state, reasons)


@pytest.mark.parametrize("text", ["slots", "Slotsmania", "casino slots", f"slots {LINKS}"])
def test_a_text_with_a_phrase_that_is_not_taken_is_refused(text: str) -> None:
    with pytest.raises(TextRefused):
        verdict(text, {**PHRASES, "max_links": 0, "moderation": "before"})


def test_what_a_program_filled_in_is_spam_and_not_refused() -> None:
    assert verdict("slots", PHRASES, decoy="x") == ("spam", ["decoy"])
    assert verdict("slots", PHRASES, open_ms=QUICKEST_MS - 1) == ("spam", ["too_quick"])


def test_a_form_that_was_open_for_three_seconds_says_nothing_against_its_text() -> None:
    assert verdict("hello", {}, open_ms=QUICKEST_MS) == SHOWN


@pytest.mark.parametrize(
    ("writer", "state"),
    [
        (WriterStanding(is_moderator=False), "spam"),
        (WriterStanding(is_moderator=False, trust=1), "spam"),
        (WriterStanding(is_moderator=False, approved=1), "visible"),
        (WriterStanding(is_moderator=True), "visible"),
    ],
    ids=str,
)
def test_a_quick_answer_is_spam_from_strangers_alone(writer: WriterStanding, state: str) -> None:
    found = judge(JudgedText("yes", render("yes"), open_ms=200), writer, site())

    assert found.state == state


def test_a_filled_decoy_is_spam_from_everyone() -> None:
    known = WriterStanding(is_moderator=True, approved=9)

    assert judge(JudgedText("yes", render("yes"), "x"), known, site()).reasons == ["decoy"]


def test_a_moderators_text_is_not_searched_but_waits_where_all_do() -> None:
    assert verdict(f"slots {LINKS}", {**PHRASES, "max_links": 0}, by_moderator=True) == SHOWN
    before = verdict("hello", {"moderation": "before"}, by_moderator=True)
    assert before == ("pending", ["before"])


@pytest.mark.parametrize(
    ("writer", "wanted", "reasons"),
    [
        (WriterStanding(is_moderator=False), {"max_links": 5}, ["links"]),
        (WriterStanding(is_moderator=False), {}, []),
        (WriterStanding(is_moderator=False, trust=1), {"max_links": 5}, []),
        (WriterStanding(is_moderator=False, trust=2), {"max_links": 1}, ["links"]),
        (WriterStanding(is_moderator=False, approved=2), {"approve_first": 3}, ["first"]),
        (WriterStanding(is_moderator=False, approved=3), {"approve_first": 3}, []),
        (WriterStanding(is_moderator=True), {"approve_first": 3, "max_links": 0}, []),
    ],
    ids=str,
)
def test_who_is_new_is_judged_more_strictly(
    writer: WriterStanding, wanted: dict[str, Any], reasons: list[Reason]
) -> None:
    found = judge(JudgedText(LINKS, render(LINKS)), writer, site(**wanted))

    assert found == Judgement("pending" if reasons else "visible", reasons)


@pytest.mark.parametrize(("others", "reasons"), [(0, []), (1, []), (2, ["repeated"])])
def test_what_three_people_write_is_spam(others: int, reasons: list[Reason]) -> None:
    written = JudgedText("hello", render("hello"), others=others)

    found = judge(written, WriterStanding(is_moderator=False), site())

    assert found == Judgement("spam" if reasons else "visible", reasons)
