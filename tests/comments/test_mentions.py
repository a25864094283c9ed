"""What of a text is a mention: `@` and the name of somebody whom it may mention."""

import html as entities
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chalicelib.comments import rendering
from chalicelib.comments.mentions import Mention, Mentions, rename_in
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
    return [each["id"] for each in mentions.people]


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


@pytest.mark.parametrize(
    ("text", "name", "is_mention"),
    [
        ("谢谢@小明你好", "小明", True),
        ("谢谢@小明", "小明", True),
        ("thanks@小明", "小明", True),
        ("谢谢@Ann你好", "Ann", True),
        ("@小明ok", "小明", True),
        ("ありがとう@さくらさん", "さくら", True),
        ("고마워@민수님", "민수", True),
        ("ขอบคุณ@สมชายครับ", "สมชาย", True),
        ("谢谢,@Ann.", "Ann", True),
        ("me@Ann", "Ann", False),
        ("我me@Ann", "Ann", False),
        ("@Annabel", "Ann", False),
        ("@Ann_b", "Ann", False),
        ("@Ann2", "Ann", False),
        ("спасибо@Оля", "Оля", False),
        ("@Оляна", "Оля", False),
        ("@Ann明子", "Ann明", True),
    ],
)
def test_a_name_needs_a_border_between_letters_of_scripts_with_spaces_alone(
    text: str, name: str, *, is_mention: bool
) -> None:
    html = html_of(text, Mention(id="p", name=name))

    assert html == f"<p>{text.replace('@' + name, marked('p', name)) if is_mention else text}</p>\n"


def test_of_two_names_without_a_border_the_longer_is_meant() -> None:
    assert found("@小明明", {"id": "a", "name": "小明"}, {"id": "b", "name": "小明明"}) == ["b"]


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


def test_a_new_name_is_no_pattern() -> None:
    assert rename_in("@Ann", [0], "Ann", r"\1\g<0>") == r"@\1\g<0>"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("@Ann and @Ann", [0, 9]),
        ("@Annabel, me@Ann, \\@Ann, `@Ann`", []),
        ('[@Ann](https://a.example/@Ann "@Ann") @Ann', [38]),
        ("<https://a.example/@Ann> <me.@Ann.example>", []),
        ("![@Ann](https://a.example/@Ann)", []),
        ("    @Ann\n    x\n\n@Ann", [16]),
        ("```\n@Ann\n```\n@Ann", [13]),
        ("[a][@Ann]\n\n[@Ann]: https://a.example/@Ann '@Ann'\n", []),
        ("# @Ann #", [2]),
        ("# @Ann#", [2]),
        ("@Ann\n===\n@Ann\n---", [0, 9]),
        ("> - @Ann\n>   *@Ann*\n@Ann", [4, 14, 20]),
        ("1.\t@Ann\n\n\t  @Ann", [3, 12]),
        ("- \tx\n\t@Ann", [6]),
        ("x  \r\n@Ann\r@Ann", [5, 10]),
        ("> \u2003\n> @Ann\n> \u2003", [6]),
        ("\x00@Ann\x00", [1]),
        ("**@Ann** ~~@Ann~~", [2, 11]),
        ("@Ann Lee", []),
    ],
)
@pytest.mark.parametrize("images", [False, True])
def test_a_person_is_found_where_the_parser_finds_a_mention(
    text: str, places: list[int], *, images: bool
) -> None:
    assert list(rendering.places(text, Mentions([ANN, LEE]), "Ann", images=images)) == places


@pytest.mark.parametrize("images", [False, True])
def test_the_words_of_a_picture_mention_nobody(*, images: bool) -> None:
    mentions = Mentions([ANN])

    html = render("![@Ann](https://a.example/a.png)", mentions, images=images)

    assert mentions.people == []
    assert "mention" not in html


NAMES = [
    "Ann",
    "Ann Lee",
    "A.",
    "*b*",
    "[x](https://b.example)",
    "`",
    "a`b",
    "\u674e\u5c0f",
    "~",
    "<b>",
]
PIECES = [
    *(
        "@",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "    ",
        "\t",
        " ",
        "*",
        "**",
        "_",
        "`",
        "```\n",
        "# ",
        " #",
    ),
    *(
        "[",
        "](",
        ")",
        "![",
        "]: ",
        "https://a.example/",
        "<https://a.example/",
        ">",
        '"',
        "\\",
        "~~",
    ),
    *("===", "---", "&amp;", "\r\n", "\u2003", "\x0c", "a", "Zo\u00eb"),
    *(f"@{name}" for name in NAMES),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


def links_and_code(html: str) -> list[str]:
    return re.findall(
        r'<a href="[^"]*"|title="[^"]*"|<code>.*?</code>|src="[^"]*"', html, re.DOTALL
    )


@settings(max_examples=300)
@example(text="# @Ann #\u00a0\nmore", names=["Ann"], to="", images=False)
@example(text="## @Ann ##\u3000", names=["Ann"], to="", images=False)
@given(
    text=TEXTS,
    names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
    to=st.sampled_from([*NAMES, "Zo\u00eb", "mallory", ""]),
    images=st.booleans(),
)
def test_mentions_alone_are_replaced(text: str, names: list[str], to: str, *, images: bool) -> None:
    people = [Mention(id=f"p{number}", name=name) for number, name in enumerate(names)]
    as_read, as_renamed = Mentions(people), Mentions(people, {"p0": to})
    html = render(text, as_read, images=images, is_new=False)
    after = render(text, as_renamed, images=images, is_new=False)
    places = list(rendering.places(text, Mentions(people), names[0], images=images))

    assert links_and_code(after) == links_and_code(html)
    assert len(places) == html.count('data-person="p0"')
    assert all(text.startswith(f"@{names[0]}", place) for place in places)
    changed = rename_in(text, places, names[0], to)
    assert len(changed) - len(text) == len(places) * (len(to) - len(names[0]))


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
