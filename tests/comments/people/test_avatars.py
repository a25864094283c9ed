"""An avatar is the picture that a person's token names, or a drawing of their initials."""

import xml.etree.ElementTree as ET

import pytest

from chalicelib.comments.people.avatars import draw, initials
from tests.support.http_client import Client

COMMENTS = "/nodes/blog:moon/comments"
AVATAR = "/sites/blog/people/ann/avatar"
PICTURE = "https://pictures.example/ann.png?size=64"


def letters_of(drawing: str | bytes) -> str | None:
    text: str | None = ET.fromstring(drawing)[1].text  # noqa: S314 - our own drawing
    return text


@pytest.fixture
def node(client: Client) -> Client:
    root = client.as_("root", roles=["admin"])
    root.put("/nodes/blog:moon", title="Moon", url="https://blog.example/moon")
    return client


def test_the_picture_is_where_the_token_of_the_last_post_says(node: Client) -> None:
    node.as_("ann", picture=PICTURE).post(COMMENTS, text="hello")
    found = node.get(AVATAR)

    assert (found.status, found.headers["Location"]) == (302, PICTURE)
    assert found.headers["Cache-Control"] == "public, max-age=86400"
    node.as_("ann").post(COMMENTS, text="hello")
    assert node.get(AVATAR).status == 200


@pytest.mark.parametrize(
    "picture",
    [
        "http://a.example/x.png",
        "javascript:alert(1)",
        "https://a b/",
        "https://a.example/\r\nX: y",
        7,
    ],
)
def test_only_an_address_by_https_is_a_picture(node: Client, picture: object) -> None:
    assert node.as_("ann", picture=picture).post(COMMENTS, text="hello").status == 201

    assert node.get(AVATAR).status == 200


def test_without_a_picture_initials_are_drawn(node: Client) -> None:
    node.as_("ann", name="Ann <b> Smith").post(COMMENTS, text="hello")

    found = node.get(AVATAR)

    assert found.headers["Content-Type"].startswith("image/svg+xml")
    assert found.headers["Cache-Control"] == "public, max-age=86400"
    assert found.headers["Content-Security-Policy"] == "default-src 'none'"
    assert letters_of(found.body) == "AS"


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Ann", "A"),
        ("ann smith", "AS"),
        ("A. B. C.", "AC"),
        ("\U00013000", "\U00013000"),
        ("<&>", ""),
    ],
)
def test_initials_are_those_of_the_first_and_the_last_word(name: str, letters: str) -> None:
    assert initials(name) == letters
    assert letters_of(draw("ann", name)) == (letters or None)
