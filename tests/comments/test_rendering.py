"""What Markdown becomes: what may be linked, what shows nothing, and what it costs."""

import pytest

from bench.rendering import texts, work
from chalicelib.bounds import BOUNDS
from chalicelib.comments.errors import CommentTooLarge
from chalicelib.comments.rendering import render
from chalicelib.errors import UnreadableText
from tests.support.http_client import Client

LONG, HALF = texts(5_000), texts(2_500)
MOST_CALLS_A_CHARACTER = 65


@pytest.mark.parametrize("name", LONG)
def test_the_cost_of_a_text_grows_with_its_length(name: str) -> None:
    render("x", images=True)
    long, half = work(LONG[name], images=True), work(HALF[name], images=True)

    assert long < 2.5 * half
    assert long < MOST_CALLS_A_CHARACTER * len(LONG[name])


@pytest.mark.parametrize("name", LONG)
def test_the_html_of_a_hostile_text_is_bounded(name: str) -> None:
    try:
        html = render(LONG[name], images=True)
    except (CommentTooLarge, UnreadableText):
        return
    assert len(html.encode()) <= BOUNDS.comments.html_bytes


def test_as_many_links_as_fit_are_all_links() -> None:
    text = "[a](http://b.c)" * 300
    assert render(text).count("<a href") == 300
    text = "[a *b*](http://b.c)\n" * 500
    assert render(text).count("<a href") == 500


def test_brackets_beyond_the_bound_are_text() -> None:
    html = render("[" * 5_000 + "[a](http://b.c)")

    assert html.startswith("<p>[[[[")
    assert html.count("[") >= 5_000


@pytest.mark.parametrize(
    "target",
    [
        "?action=delete",
        "//evil.example",
        "/logout",
        "page",
        "#top",
        "https:page",
        "https:/page",
        "https:///page",
        "http:\\\\evil.example",
        "https://",
        "javascript:alert(1)",
        "ftp://a.example",
        "tel:117",
        "mailto:",
        "data:text/html,x",
    ],
)
@pytest.mark.parametrize("form", ["[x]({})", "[x](<{}>)", "![x]({})", "[x][r]\n\n[r]: {}", "<{}>"])
def test_a_link_that_is_not_absolute_is_text(form: str, target: str) -> None:
    html = render(form.format(target), images=True)

    assert "href" not in html
    assert "src" not in html


@pytest.mark.parametrize(
    "target",
    [
        "https://a.example",
        "HTTP://A.example/b?c#d",
        "mailto:ann@a.example",
        "https://münchen.example",
    ],
)
@pytest.mark.parametrize("form", ["[x]({})", "[x](<{}>)", "[x][r]\n\n[r]: {}", "<{}>"])
def test_an_absolute_link_is_kept(form: str, target: str) -> None:
    html = render(form.format(target))

    assert 'href="' in html
    assert 'rel="nofollow ugc noopener"' in html


def test_a_destination_has_three_parentheses_in_each_other_at_most() -> None:
    assert ">x</a>" in render("[x](https://a.example/a_(b_(c)))")
    assert ">x</a>" not in render("[x](https://a.example/a_(b_(c_(d_(e)))))")


NOTHING = ["[a]: https://a.example", "[](https://a.example)", "# ", "> ", "&#8203;", "&#x3164;"]
SOMETHING = ["1.", "-", "---", "`a`", "    a", "<b>", "\\", "&#33;", "> a", "."]


@pytest.mark.parametrize("text", NOTHING)
def test_a_text_that_shows_nothing_is_refused(client: Client, text: str) -> None:
    client.as_("paula", roles=["publisher"]).put("/nodes/n", title="N", url="https://a.example/n")

    reply = client.as_("ann").post("/nodes/n/comments", text=text)

    assert (reply.status, reply.code) == (422, "invalid_request")
    (fault,) = reply.json["errors"]
    assert (fault["field"], fault["code"]) == ("text", "invisible_text")


@pytest.mark.parametrize("text", SOMETHING)
def test_a_text_that_shows_anything_is_taken(text: str) -> None:
    assert render(text).strip()


def test_a_picture_alone_is_visible_if_images_are_shown() -> None:
    assert "<img" in render("![](https://a.example/a.png)", images=True)


@pytest.mark.parametrize("text", ["a&#x202e;b", "a&#8238;b", "*a&#x2066;* b", "`a\u202e`"])
def test_a_direction_that_an_entity_opens_is_refused(text: str) -> None:
    with pytest.raises(UnreadableText):
        render(text)


def test_a_text_that_was_accepted_once_is_rendered_again() -> None:
    assert render("[a]: https://a.example", is_new=False) == ""
