"""What of a text is a mention: `@` and the name of somebody whom it may mention."""

import html as entities
from typing import Any

import pytest

from chalicelib.comments.mentions import Mention, Mentions, renamed
from chalicelib.comments.rendering import render
from tests.support.http_client import Client

ANN = Mention(id="ann", name="Ann")
LEE = Mention(id="lee", name="Ann Lee")


def marked(user_id: str, name: str) -> str:
    return f'<span class="mention" data-person="{user_id}">@{name}</span>'


def html_of(text: str, *people: Mention) -> str:
    return render(text, Mentions(people))


def found(text: str, *people: Mention) -> list[str]:
    mentions = Mentions(people)
    render(text, mentions)
    return [each["id"] for each in mentions.found]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("@Ann", "{}"),
        ("Thanks, @Ann!", "Thanks, {}!"),
        ("(@Ann)", "({})"),
        ("@Ann's", "{}'s"),
        ("**@Ann**", "<strong>{}</strong>"),
        ("@Ann @Ann", "{0} {0}"),
        ("@@Ann", "@{}"),
        ("@Annabel", "@Annabel"),
        ("@ann", "@ann"),
        ("@Ann2", "@Ann2"),
        ("me@Ann", "me@Ann"),
        ("\\@Ann", "@Ann"),
        ("`@Ann`", "<code>@Ann</code>"),
        ("Ann", "Ann"),
    ],
)
def test_a_mention_is_a_whole_name_after_an_at_sign(text: str, html: str) -> None:
    expected = html.format(marked("ann", "Ann"))

    assert html_of(text, ANN) == f"<p>{expected}</p>\n"
    assert found(text, ANN) == (["ann"] if "{" in html else [])


def test_the_longer_of_two_names_is_meant() -> None:
    html = html_of("@Ann Lee and @Ann", ANN, LEE)

    assert html == f"<p>{marked('lee', 'Ann Lee')} and {marked('ann', 'Ann')}</p>\n"
    assert found("@Ann Lee", ANN, LEE) == ["lee"]


def test_of_two_people_with_one_name_the_first_is_meant() -> None:
    assert found("@Ann @Ann", ANN, {"id": "other", "name": "Ann"}) == ["ann"]


def test_they_are_found_in_the_order_of_the_text_and_once() -> None:
    assert found("@Ann Lee, @Ann, @Ann Lee", ANN, LEE) == ["lee", "ann"]


def test_a_name_in_a_link_is_text() -> None:
    html = html_of("[@Ann](https://a.example)", ANN)

    assert "mention" not in html
    assert "@Ann</a>" in html


def test_nobody_is_mentioned_by_a_text_whose_author_names_nobody() -> None:
    assert render("@Ann") == "<p>@Ann</p>\n"


@pytest.mark.parametrize(
    "name",
    [
        *("(.*)", "$1", "a|b", "\\", "[x](https://b.example)", "*b*", "_", "<b>", '"', "&amp;"),
        *("Zo\u00eb", "\u674e\u5c0f\u9f99", "\u0645\u062d\u0645\u062f", "@Ann", "A.", "\U0001f600"),
    ],
)
def test_a_name_is_shown_as_it_is(name: str) -> None:
    html = html_of(f"See @{name}, please", {"id": "p", "name": name})

    shown = entities.unescape(html)
    assert shown == f'<p>See <span class="mention" data-person="p">@{name}</span>, please</p>\n'
    assert html.count("<") == 4


def test_an_authors_own_span_is_text() -> None:
    html = html_of('<span class="mention" data-person="ann">@Bob</span>', ANN)

    assert "<span" not in html


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@Ann and @Ann", "@Bo and @Bo"),
        ("@Annabel", "@Annabel"),
        ("me@Ann", "me@Ann"),
        ("`@Ann`", "`@Bo`"),
        ("Ann", "Ann"),
    ],
)
def test_a_person_is_named_anew_where_they_are_mentioned(text: str, expected: str) -> None:
    assert renamed(text, "Ann", "Bo") == expected


def test_a_new_name_is_no_pattern() -> None:
    assert renamed("@Ann", "Ann", r"\1\g<0>") == r"@\1\g<0>"


def test_many_at_signs_are_read_once_each() -> None:
    people = [Mention(id=str(n), name="a" * n) for n in range(1, 11)]

    assert "span" not in html_of("@" * 10_000, *people)


@pytest.mark.parametrize(
    "wanted", [["x" * 65], ["$gt\u0000"], [{"$gt": ""}], ["a b"], "bob", ["bob"] * 11, [None]]
)
def test_bad_ids_and_too_many_are_refused(client: Client, wanted: Any) -> None:
    page = {"title": "Moon", "url": "https://blog.example/moon"}
    client.as_("root", roles=["admin"]).put("/nodes/blog:moon", **page)

    reply = client.as_("ann").post("/nodes/blog:moon/comments", text="@Bob", mentions=wanted)

    assert (reply.status, reply.code) == (422, "invalid_request")
