"""What comes in with bad intent or by accident, and leaves with a problem and no harm."""

from html.parser import HTMLParser
from typing import Any

import orjson
import pytest

from chalicelib.comments.rendering import render
from tests.support.http_client import Client

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
OPERATORS: list[Any] = [{"$ne": None}, {"$gt": ""}, ["x"], [{"$ne": 1}], 1, 1.5, True]


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher"])


@pytest.fixture
def ann(client: Client, publisher: Client) -> Client:
    publisher.put("/nodes/a-page", **PAGE)
    return client.as_("ann")


@pytest.mark.parametrize("value", OPERATORS, ids=str)
def test_no_field_takes_an_operator(ann: Client, publisher: Client, value: Any) -> None:
    comment = ann.post("/nodes/a-page/comments", text="x").json
    target = f"/nodes/a-page/comments/{comment['id']}"
    moderator = ann.as_("mo", roles=["moderator"])
    replies = [
        ann.post("/nodes/a-page/comments", text=value),
        ann.post("/nodes/a-page/comments", text="x", parent=value),
        ann.patch(target, text=value),
        moderator.post(f"{target}/state", state=value),
        publisher.post("/nodes/a-page/store", store=value),
        *(
            publisher.put("/nodes/a-page", **{**PAGE, name: value})
            for name in ("title", "url", "site", "store", "moderation")
        ),
    ]

    for reply in replies:
        assert (reply.status, reply.code) == (422, "invalid_request")
        assert b"$" not in reply.body


@pytest.mark.parametrize("name", ["threaded", "locked", "max_depth"])
@pytest.mark.parametrize("value", [{"$ne": 1}, "true", [], 1.5, -1, 2**53])
def test_no_setting_is_coerced(publisher: Client, name: str, value: Any) -> None:
    assert publisher.put("/nodes/a-page", **PAGE, **{name: value}).status == 422


@pytest.mark.parametrize(
    "edited",
    [*OPERATORS, "x", "2026-03-01T12:00:00", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00+14:00"],
    ids=str,
)
def test_a_time_that_none_can_be_is_refused(ann: Client, edited: Any) -> None:
    comment = ann.post("/nodes/a-page/comments", text="x").json
    target = f"/nodes/a-page/comments/{comment['id']}/state"

    reply = ann.as_("mo", roles=["moderator"]).post(target, state="visible", edited_at=edited)

    assert (reply.status, reply.code) == (422, "invalid_request")


def test_an_unknown_field_is_refused(ann: Client, publisher: Client) -> None:
    body = {"text": "x", "author": {"id": "bob"}, "state": "visible", "$where": "1"}
    assert ann.post("/nodes/a-page/comments", **body).status == 422
    assert publisher.put("/nodes/a-page", **PAGE, counts={"visible": 9}).status == 422


IDS = ["$ne", "a%00b", "a%2Fb", "a%20b", "%C3%A9", "a" * 257, "{}", "a%0A", "%24where"]


@pytest.mark.parametrize("bad", IDS)
def test_an_id_outside_its_alphabet_is_refused(ann: Client, publisher: Client, bad: str) -> None:
    replies = [
        publisher.put(f"/nodes/{bad}", **PAGE),
        ann.get(f"/nodes/{bad}"),
        ann.get(f"/nodes/{bad}/comments"),
        ann.post(f"/nodes/{bad}/comments", text="x"),
        ann.get(f"/nodes/a-page/comments/{bad}"),
        ann.get(f"/nodes/a-page/comments/{bad}/thread"),
        ann.delete(f"/nodes/a-page/comments/{bad}"),
    ]

    for reply in replies:
        assert (reply.status, reply.code) == (422, "invalid_request")


@pytest.mark.parametrize("parent", ["$ne", "a.b", "a\0b", "", "x" * 33, "é"])
def test_a_parent_outside_its_alphabet_is_refused(ann: Client, parent: str) -> None:
    assert ann.post("/nodes/a-page/comments", text="x", parent=parent).status == 422


@pytest.mark.parametrize(
    "node", ["a.b.c", "...", "__proto__", "-", "~", "default:~", "default:a:b:", "a" * 256]
)
def test_ids_with_dots_and_colons_are_just_ids(
    publisher: Client, ann: Client, client: Client, node: str
) -> None:
    assert publisher.put(f"/nodes/{node}", **PAGE).status == 201
    posted = ann.post(f"/nodes/{node}/comments", text=node)
    assert ann.get(posted.headers["Location"]).json == posted.json
    assert client.get(f"/nodes/{node}/comments").json["count"] == 1


@pytest.mark.parametrize(
    "node",
    [".", "..", ":", "a:", ":a", "a:.", "a:..", "A:b", "a.b:c", "%2e%2E", "a%3A", "x" * 65 + ":a"],
)
def test_an_id_that_no_new_node_may_have_is_refused(client: Client, node: str) -> None:
    admin = client.as_("root", roles=["admin"])

    made = admin.put(f"/nodes/{node}", **PAGE)

    assert (made.status, made.code) == (422, "invalid_request")
    assert made.json["errors"][0]["code"] == "node_id"
    assert admin.post(f"/nodes/{node}/comments", text="x").code == "unknown_node"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", 422),
        ("   \n\t ", 422),
        ("x", 201),
        ("x" * 10_000, 201),
        ("x" * 10_001, 422),
        (" " + "x" * 10_000 + "\n", 201),
        ("a\0b", 422),
        ("a\x1b[31mb", 422),
        ("a\x85b", 422),
        ("\N{FAMILY}\N{ZERO WIDTH JOINER}\N{DUCK}", 201),
        ("\u05e9\u05dc\u05d5\u05dd \u200f\u202bx\u202c", 201),
    ],
    ids=range(11),
)
def test_texts_at_and_over_their_bounds(ann: Client, text: str, status: int) -> None:
    reply = ann.post("/nodes/a-page/comments", text=text)

    assert reply.status == status
    if status == 201:
        assert reply.json["text"] == text.strip()


def test_a_lone_surrogate_is_not_json(ann: Client) -> None:
    reply = ann.request(
        "POST",
        "/nodes/a-page/comments",
        body=b'{"text": "\\ud800"}',
        headers={"Content-Type": "application/json"},
    )
    assert reply.status in {400, 422}


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 400), (b"{", 400), (b"[]", 422), (b"null", 422), (b'"x"', 422), (b"\xff", 400)],
)
def test_bodies_that_are_not_the_object_asked_for(ann: Client, body: bytes, status: int) -> None:
    headers = {"Content-Type": "application/json"}
    reply = ann.request("POST", "/nodes/a-page/comments", body=body, headers=headers)
    assert reply.status == status
    assert reply.code in {"invalid_json", "invalid_request"}


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "", "1.5", "1e2", "%24gt"])
@pytest.mark.parametrize("path", ["/nodes/a-page/comments", "/moderation/comments"])
def test_limits_outside_their_range_are_refused(client: Client, path: str, limit: str) -> None:
    moderator = client.as_("mo", roles=["moderator"])
    moderator.put("/nodes/a-page", **PAGE)
    reply = moderator.get(f"{path}?limit={limit}")
    assert (reply.status, reply.code) == (422, "invalid_request")


def test_an_unknown_order_or_state_is_refused(ann: Client) -> None:
    assert ann.get("/nodes/a-page/comments?order=hot").status == 422
    moderator = ann.as_("mo", roles=["moderator"])
    assert moderator.get("/moderation/comments?state=visible").status == 422


def test_a_tampered_or_foreign_cursor_is_refused(ann: Client, publisher: Client) -> None:
    publisher.put("/nodes/b-page", **PAGE)
    for node in ("a-page", "b-page"):
        root = ann.post(f"/nodes/{node}/comments", text="1").json["id"]
        ann.post(f"/nodes/{node}/comments", text="2", parent=root)
    listing = "/nodes/a-page/comments?limit=1"
    good = ann.get(listing).json["next"]
    thread = f"/nodes/b-page/comments/{root}/thread?limit=1"
    foreign = [
        ann.get("/nodes/b-page/comments?limit=1").json["next"],
        ann.get(f"{listing}&order=newest").json["next"],
        ann.get(thread).json["next"],
    ]
    tampered = [good[:-1], good + "A", "A" + good[1:], good.swapcase(), "x", "%00", "💥", "A" * 999]

    assert ann.get(f"{listing}&cursor={good}").status == 200
    for cursor in [*foreign, *tampered]:
        reply = ann.get(f"{listing}&cursor={cursor}")
        assert (reply.status, reply.code) == (400, "invalid_cursor")


HARMFUL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "![x](https://tracker.example/pixel.gif)",
    "![x](javascript:alert(1))",
    '<a href="javascript:x" onclick="x">x</a>',
    "<style>*{display:none}</style>",
    "<iframe src=https://evil.example></iframe>",
    '[x](https://a.example "\\" onmouseover=alert(1) x=\\"")',
    "<svg/onload=alert(1)>",
    "<!-- --><script>",
]


class Tags(HTMLParser):
    """Collects what a browser would make of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: dict[str, str | None] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes.update(attrs)

    def handle_comment(self, data: str) -> None:
        self.names.add(f"<!--{data}")


@pytest.mark.parametrize("text", HARMFUL)
def test_no_markdown_becomes_harmful_html(text: str) -> None:
    tags = Tags(render(text))

    assert tags.names <= {"p", "a"}
    assert tags.attributes.keys() <= {"href", "title", "rel"}
    assert str(tags.attributes.get("href", "https:")).startswith("https:")


def test_links_say_that_they_are_not_ours() -> None:
    assert render("[x](https://a.example)") == (
        '<p><a href="https://a.example" rel="nofollow ugc noopener">x</a></p>\n'
    )


def test_images_are_shown_only_on_sites_that_allow_them() -> None:
    text = "![a duck](https://a.example/duck.png)"
    assert "<img" not in render(text)
    assert '<img src="https://a.example/duck.png" alt="a duck">' in render(text, images=True)
    assert "<img" not in render("![x](data:image/png;base64,x)", images=True)


def test_a_body_over_a_megabyte_is_refused(ann: Client) -> None:
    reply = ann.request(
        "POST",
        "/nodes/a-page/comments",
        body=orjson.dumps({"text": "x" * 1_000_001}),
        headers={"Content-Type": "application/json"},
    )
    assert (reply.status, reply.code) == (413, "body_too_large")
