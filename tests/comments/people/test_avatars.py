"""An avatar is the picture that a person's token names, or a drawing of their initials."""

import xml.etree.ElementTree as ET

import pytest

from chalicelib.comments.people.avatars import draw, initials
from tests.support.http_client import Client, Reply

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


def loaded(client: Client, destination: str | None = "image") -> Reply:
    headers = {"Sec-Fetch-Dest": destination} if destination else {}
    return client.request("GET", AVATAR, headers=headers)


def test_the_picture_is_where_the_token_of_the_last_post_says(node: Client) -> None:
    node.as_("ann", picture=PICTURE).post(COMMENTS, text="hello")
    found = loaded(node)

    assert (found.status, found.headers["Location"]) == (302, PICTURE)
    assert found.headers["Cache-Control"] == "private, max-age=86400"
    assert "Sec-Fetch-Dest" in found.headers["Vary"]
    node.as_("ann").post(COMMENTS, text="hello")
    assert loaded(node).status == 200


@pytest.mark.parametrize("destination", ["document", "iframe", "empty", "script", None])
def test_who_opens_the_address_is_led_to_no_page_that_somebody_chose(
    node: Client, destination: str | None
) -> None:
    node.as_("ann", picture=PICTURE).post(COMMENTS, text="hello")

    found = loaded(node, destination)

    assert (found.status, "Location" in found.headers) == (200, False)
    assert found.headers["Cache-Control"] == "private, max-age=86400"
    assert "Sec-Fetch-Dest" in found.headers["Vary"]


@pytest.mark.parametrize(
    ("picture", "status"),
    [
        (PICTURE, 302),
        ("https://pictures.example:8443/ann.png", 302),
        ("https://pictures.example.evil.example/ann.png", 200),
        ("https://evil.example/pictures.example", 200),
        ("https://xpictures.example/ann.png", 200),
        ("https://PICTURES.example/ann.png", 302),
    ],
)
def test_an_avatar_leads_to_the_hosts_of_its_site_alone(
    node: Client, picture: str, status: int
) -> None:
    publisher = node.as_("paula", roles=["publisher"], sites=["blog"])
    hosts = {"avatar_hosts": ["pictures.example"]}
    assert publisher.patch("/sites/blog/comments/settings", **hosts).status == 200
    node.as_("ann", picture=picture).post(COMMENTS, text="hello")

    for destination in ("image", "document", None):
        found = loaded(node, destination)
        assert found.status == status
        assert found.headers["Cache-Control"] == "public, max-age=86400"
    assert publisher.patch("/sites/blog/comments/settings", avatar_hosts=[]).status == 200
    assert loaded(node).status == 200


@pytest.mark.parametrize(
    "picture",
    [
        "http://a.example/x.png",
        "javascript:alert(1)",
        "https://a b/",
        "https://a.example/\r\nX: y",
        "https://pictures.example@evil.example/x.png",
        "https://pictures.example\\@evil.example/x.png",
        7,
    ],
)
def test_only_an_address_by_https_is_a_picture(node: Client, picture: object) -> None:
    assert node.as_("ann", picture=picture).post(COMMENTS, text="hello").status == 201

    assert loaded(node).status == 200


def test_without_a_picture_initials_are_drawn(node: Client) -> None:
    node.as_("ann", name="Ann <b> Smith").post(COMMENTS, text="hello")

    found = loaded(node)

    assert found.headers["Content-Type"].startswith("image/svg+xml")
    assert found.headers["Cache-Control"] == "private, max-age=86400"
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
