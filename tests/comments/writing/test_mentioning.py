"""Comments that mention people: who can be mentioned, and what becomes of it afterwards."""

import dataclasses
import html
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.comments import nodes, personal_data
from chalicelib.comments.entries import comparing
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.mentions import NOBODY
from chalicelib.comments.repair import render_again
from chalicelib.comments.writing import mentioning
from chalicelib.comments.writing.changes import change_comment
from chalicelib.people.features import Step
from chalicelib.runtime import Runtime
from tests.comments.support.authors import everything
from tests.comments.support.discussion import Layout
from tests.support.http_client import Client

NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
PAGE = {"title": "Moon", "url": "https://blog.example/moon"}
SPAN = '<span class="mention" data-person="bob">@Bob</span>'


@pytest.fixture
def root(client: Client, layout: Layout) -> Client:
    """An admin, with a page on which Bob has said something."""
    root = client.as_("root", roles=["admin"])
    root.put(NODE, **PAGE, store=layout.store, threaded=layout.threaded)
    write(client, "bob", "Bob", "Hello")
    return root


def write(client: Client, who: str, name: str, text: str, **body: Any) -> Any:
    reply = client.as_(who, name=name).post(COMMENTS, text=text, **body)
    assert reply.status == 201, reply.body
    return reply.json


def mention(client: Client, text: str = "So it is, @Bob", **body: Any) -> Any:
    return write(client, "ann", "Ann", text, **{"mentions": ["bob"], **body})


def read(client: Client, comment: str) -> Any:
    return client.as_("reader").get(f"{COMMENTS}/{comment}").json


def entry(runtime: Runtime, comment: str) -> Any:
    found = ENTRIES.of(runtime.database).find_one({"id": comment})
    assert found is not None
    return found


def is_sound(runtime: Runtime) -> bool:
    node = nodes.find(runtime.database, "blog:moon")
    return not any(comparing.verify(runtime, node))


@pytest.mark.usefixtures("root")
def test_a_member_is_mentioned(client: Client, runtime: Runtime) -> None:
    made = mention(client)

    shown = read(client, made["id"])
    assert shown["html"] == f"<p>So it is, {SPAN}</p>\n"
    assert shown["mentions"] == made["mentions"] == [{"id": "bob", "name": "Bob"}]
    assert entry(runtime, made["id"])["mentioned"] == ["bob"]
    assert is_sound(runtime)


@pytest.mark.usefixtures("root")
def test_who_is_not_named_in_the_text_is_not_mentioned(client: Client, runtime: Runtime) -> None:
    made = mention(client, "So it is")

    assert made["mentions"] == []
    assert "mentioned" not in entry(runtime, made["id"])


@pytest.mark.usefixtures("root")
def test_the_name_of_somebody_who_takes_no_part_is_text(client: Client) -> None:
    made = mention(client, "@Cleo and @Bob", mentions=["cleo", "bob"])

    assert [each["id"] for each in made["mentions"]] == ["bob"]
    assert mention(client, "@Cleo", mentions=["cleo"])["mentions"] == []


def test_who_has_no_visible_comment_or_is_banned_is_not_mentioned(
    client: Client, root: Client
) -> None:
    hidden = write(client, "cleo", "Cleo", "Buy")["id"]
    assert root.post(f"{COMMENTS}/{hidden}/state", state="hidden").status == 200
    assert root.patch("/sites/blog/people/bob", status="banned").status == 200

    assert mention(client, "@Cleo @Bob", mentions=["cleo", "bob"])["mentions"] == []


@pytest.mark.usefixtures("root")
def test_ten_are_mentioned(client: Client) -> None:
    people = {f"p{number}": f"Person {number}" for number in range(10)}
    for who, name in people.items():
        write(client, who, name, "Here")

    made = mention(client, " ".join(f"@{name}" for name in people.values()), mentions=[*people])

    assert [each["id"] for each in made["mentions"]] == [*people]


@pytest.mark.usefixtures("root")
def test_an_edit_keeps_whom_it_still_names(client: Client, runtime: Runtime) -> None:
    made, ann = mention(client)["id"], client.as_("ann")

    kept = ann.patch(f"{COMMENTS}/{made}", text="It is so, @Bob").json
    gone = ann.patch(f"{COMMENTS}/{made}", text="It is so").json

    assert kept["mentions"] == [{"id": "bob", "name": "Bob"}]
    assert gone["mentions"] == read(client, made)["mentions"] == []
    assert "mentioned" not in entry(runtime, made)
    assert is_sound(runtime)


@pytest.mark.usefixtures("root")
def test_an_edit_mentions_others(client: Client, runtime: Runtime) -> None:
    write(client, "cleo", "Cleo", "Hello")
    made = mention(client)["id"]

    body = {"text": "@Cleo and @Bob", "mentions": ["cleo"]}
    edited = client.as_("ann").patch(f"{COMMENTS}/{made}", **body)

    assert edited.json["mentions"] == [{"id": "cleo", "name": "Cleo"}]
    assert entry(runtime, made)["mentioned"] == ["cleo"]


def test_who_was_mentioned_stays_so_when_they_have_left(client: Client, root: Client) -> None:
    made = mention(client)["id"]
    for each in read_all(client):
        if each["author"]["id"] == "bob":
            assert root.post(f"{COMMENTS}/{each['id']}/state", state="hidden").status == 200

    body = {"text": "Still, @Bob", "mentions": ["bob"]}
    edited = client.as_("ann").patch(f"{COMMENTS}/{made}", **body)

    assert [each["id"] for each in edited.json["mentions"]] == ["bob"]


def read_all(client: Client) -> list[Any]:
    comments: list[Any] = client.as_("reader").get(COMMENTS).json["comments"]
    return comments


@pytest.mark.usefixtures("root")
def test_a_deleted_comment_mentions_nobody(client: Client, runtime: Runtime) -> None:
    made = mention(client)["id"]

    assert client.as_("ann").delete(f"{COMMENTS}/{made}").status == 204

    assert "mentioned" not in entry(runtime, made)
    assert "@Bob" not in everything(runtime)
    assert is_sound(runtime)


@pytest.mark.usefixtures("root")
def test_a_rename_reaches_those_who_mention(client: Client, runtime: Runtime) -> None:
    made = mention(client)
    version = nodes.find(runtime.database, "blog:moon")["version"]

    personal_data.rename(runtime, "bob", "Robert <b>")

    shown = read(client, made["id"])
    assert shown["text"] == "So it is, @Robert <b>"
    assert shown["mentions"] == [{"id": "bob", "name": "Robert <b>"}]
    assert "@Robert &lt;b&gt;</span>" in shown["html"]
    assert shown["edited_at"] is None
    assert nodes.find(runtime.database, "blog:moon")["version"] > version
    assert is_sound(runtime)


@pytest.mark.usefixtures("root")
def test_a_name_that_would_stand_for_two_stays_as_it_was(client: Client, runtime: Runtime) -> None:
    write(client, "cleo", "Cleo", "Hello")
    made = mention(client, "@Bob and @Cleo", mentions=["bob", "cleo"])["id"]

    personal_data.rename(runtime, "bob", "Cleo")

    assert read(client, made)["text"] == "@Bob and @Cleo"
    assert [each["id"] for each in read(client, made)["mentions"]] == ["bob", "cleo"]


LINK = "[her page](https://social.example/@Bob)"


TEXTS = [
    f"@Bob see {LINK}",
    "@Bob `@Bob`",
    "@Bob\n\n    @Bob",
    "@Bob\n\n```\n@Bob\n```",
    "@Bob <https://social.example/@Bob>",
    '@Bob [x](https://a.example "@Bob")',
    "@Bob ![@Bob](https://a.example/@Bob)",
    "@Bob [@Bob](https://a.example)",
    "@Bob [x][@Bob]\n\n[@Bob]: https://a.example",
    "@Bob \\@Bob me@Bob @Bobby",
]


@pytest.mark.parametrize("name", ["mallory", "*m*", "`", "[x](https://b.example)", "Bob Lee", ""])
@pytest.mark.usefixtures("root")
def test_another_name_changes_mentions_alone(client: Client, runtime: Runtime, name: str) -> None:
    made = {text: mention(client, text) for text in TEXTS}

    if name:
        personal_data.rename(runtime, "bob", name)
    else:
        personal_data.erase(runtime, "bob")

    plain = html.escape(f"@{name or NOBODY}")
    for text, comment in made.items():
        shown = read(client, comment["id"])
        assert shown["text"] == text.replace("@Bob", f"@{name or NOBODY}", 1)
        span = SPAN.replace("@Bob", plain) if name else plain
        assert shown["html"] == comment["html"].replace(SPAN, span)
    assert is_sound(runtime)


@pytest.mark.usefixtures("root")
def test_somebody_is_named_anew_again_and_again(client: Client, runtime: Runtime) -> None:
    made = mention(client, f"@Bob {LINK}")

    for name in ("Rob", "Bob", "*", "Robert"):
        personal_data.rename(runtime, "bob", name)
        shown = read(client, made["id"])
        assert (shown["text"], shown["mentions"]) == (
            f"@{name} {LINK}",
            [{"id": "bob", "name": name}],
        )
        assert 'href="https://social.example/@Bob"' in shown["html"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        # The text would mention Bob twice, or Cleo Lee, or nobody, or lose its emphasis.
        ("@Bob and @Rob", "Rob"),
        ("@Bob Lee and @Cleo Lee", "Cleo"),
        ("*@Bob*s @Cleo Lee", "Bob!"),
    ],
)
@pytest.mark.usefixtures("root")
def test_a_name_with_which_a_text_would_read_otherwise_is_not_put_there(
    client: Client, runtime: Runtime, text: str, name: str
) -> None:
    write(client, "cleo", "Cleo Lee", "Hello")
    made = mention(client, text, mentions=["bob", "cleo"])["id"]
    before = read(client, made)

    personal_data.rename(runtime, "bob", name)
    after = read(client, made)
    personal_data.rename(runtime, "bob", "Robert")

    assert (after["text"], after["html"]) == (before["text"], before["html"])
    assert read(client, made)["text"] == text.replace("@Bob", "@Robert")


@pytest.mark.usefixtures("root")
def test_of_two_whose_names_begin_alike_one_is_renamed(client: Client, runtime: Runtime) -> None:
    write(client, "lee", "Bob Lee", "Hello")
    made = mention(client, "@Bob Lee and @Bob", mentions=["bob", "lee"])["id"]

    personal_data.rename(runtime, "bob", "Rob")
    assert read(client, made)["text"] == "@Bob Lee and @Rob"

    personal_data.erase(runtime, "lee")
    assert read(client, made)["text"] == "@\u2026 and @Rob"
    assert [each["id"] for each in read(client, made)["mentions"]] == ["bob"]


@pytest.mark.usefixtures("root")
def test_a_rename_undoes_no_edit_of_the_same_moment(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(client, "cleo", "Cleo", "Hello")
    made, ann = mention(client, "@Bob @Cleo")["id"], client.as_("ann")
    edits = iter([["bob", "cleo"]])

    def edited_before(*args: Any) -> Any:
        for mentions in edits:
            body = {"text": "@Bob @Cleo", "mentions": mentions}
            assert ann.patch(f"{COMMENTS}/{made}", **body).status == 200
        return change_comment(*args)

    monkeypatch.setattr(mentioning, "change_comment", edited_before)
    personal_data.rename(runtime, "bob", "Rob")

    shown = read(client, made)
    assert shown["text"] == "@Rob @Cleo"
    assert [each["id"] for each in shown["mentions"]] == ["bob", "cleo"]
    assert is_sound(runtime)


@pytest.mark.usefixtures("root")
def test_an_erasure_takes_the_person_out_of_the_words_of_others(
    client: Client, runtime: Runtime
) -> None:
    made = mention(client)["id"]

    assert personal_data.erase(runtime, "bob") is Step.DONE

    shown = read(client, made)
    assert (shown["text"], shown["mentions"]) == ("So it is, @\u2026", [])
    assert shown["html"] == "<p>So it is, @\u2026</p>\n"
    assert "bob" not in everything(runtime).lower()
    assert is_sound(runtime)


def test_an_erasure_also_reaches_comments_that_wait(
    client: Client, root: Client, runtime: Runtime
) -> None:
    assert root.put(NODE, **PAGE, moderation="before").status == 200
    made = mention(client)["id"]

    assert personal_data.erase(runtime, "bob") is Step.DONE

    (waiting,) = [
        each for each in root.get("/moderation/comments").json["comments"] if each["id"] == made
    ]
    assert waiting["excerpt"] == "So it is, @\u2026"


@pytest.mark.usefixtures("root")
def test_an_erasure_reaches_a_comment_whose_html_no_longer_fits(
    client: Client, runtime: Runtime
) -> None:
    """As after the site's images were switched off: what takes their place is longer."""
    text = "@Bob " + "![a] " * 1_200 + "\n\n[a]: http://aa.example/b"
    shown = runtime.settings.model_copy(update={"image_sites": ("blog",)})
    app = create_app(dataclasses.replace(runtime, settings=shown), LocalChalice)
    made = mention(Client(app, client.token), text)
    assert made["html"].count("<img") == 1_200

    assert personal_data.erase(runtime, "bob") is Step.DONE

    left = read(client, made["id"])
    assert left["mentions"] == []
    assert left["html"].startswith("<p>@\u2026 ![a]")
    assert "bob" not in everything(runtime).lower()
    assert is_sound(runtime)


@pytest.mark.bounds(comments={"erasure_step_comments": 2})
@pytest.mark.usefixtures("root")
def test_an_erasure_goes_on_with_mentions_step_by_step(client: Client, runtime: Runtime) -> None:
    for _ in range(5):
        mention(client)

    steps = [personal_data.erase(runtime, "bob") for _ in range(4)]

    assert steps == [Step.MORE, Step.MORE, Step.DONE, Step.DONE]
    assert "bob" not in everything(runtime).lower()


@pytest.mark.usefixtures("root")
def test_a_comment_that_is_about_to_be_stored_is_waited_for(
    client: Client, runtime: Runtime
) -> None:
    made = mention(client)["id"]
    found = entry(runtime, made)
    later: Any = {**found, "_id": "blog:moon/later", "id": "later"}
    ENTRIES.of(runtime.database).insert_one(later)

    assert personal_data.erase(runtime, "bob") is Step.BUSY
    assert entry(runtime, "later")["mentioned"] == ["bob"]


@pytest.mark.usefixtures("root")
def test_an_edit_in_the_same_moment_is_not_undone(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, ann = mention(client)["id"], client.as_("ann")
    edits = iter(["It is so, @Bob"])

    def edited_before(*args: Any) -> Any:
        for text in edits:
            assert ann.patch(f"{COMMENTS}/{made}", text=text).status == 200
        return change_comment(*args)

    monkeypatch.setattr(mentioning, "change_comment", edited_before)

    assert personal_data.erase(runtime, "bob") is Step.DONE
    assert read(client, made)["text"] == "It is so, @\u2026"
    assert "bob" not in everything(runtime).lower()


@pytest.mark.usefixtures("root")
def test_an_edit_that_ends_before_its_entry_is_repaired(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = mention(client, "Nobody", mentions=[])["id"]

    class Ended(Exception):
        pass

    def end(*_args: object) -> None:
        raise Ended

    with monkeypatch.context() as crash:
        crash.setattr("chalicelib.comments.entries.writing.settle", end)
        body = {"text": "@Bob", "mentions": ["bob"]}
        assert client.as_("ann").patch(f"{COMMENTS}/{made}", **body).status == 500
    assert not is_sound(runtime)

    comparing.repair(runtime, nodes.find(runtime.database, "blog:moon"))

    assert entry(runtime, made)["mentioned"] == ["bob"]
    assert is_sound(runtime)


@pytest.mark.usefixtures("root")
def test_mentions_go_along_with_a_move(client: Client, root: Client, runtime: Runtime) -> None:
    made = mention(client)["id"]
    assert root.post(f"{NODE}/move", to="blog:sun").status == 200

    moved = client.as_("reader").get(f"/nodes/blog:sun/comments/{made}").json
    assert [each["id"] for each in moved["mentions"]] == ["bob"]

    assert personal_data.erase(runtime, "bob") is Step.DONE
    moved = client.as_("reader").get(f"/nodes/blog:sun/comments/{made}").json
    assert (moved["mentions"], moved["text"]) == ([], "So it is, @\u2026")


@pytest.mark.usefixtures("root")
def test_a_preview_shows_mentions(client: Client) -> None:
    body = {"text": "@Bob", "node": "blog:moon", "mentions": ["bob", "cleo"]}

    assert client.as_("ann").post("/preview", **body).json == {"html": f"<p>{SPAN}</p>\n"}
    elsewhere = {**body, "node": "blog:none"}
    assert client.as_("ann").post("/preview", **elsewhere).json == {"html": "<p>@Bob</p>\n"}


@pytest.mark.usefixtures("root")
def test_mentions_are_rendered_again_with_all_else(client: Client, runtime: Runtime) -> None:
    made = mention(client)["id"]
    node = nodes.find(runtime.database, "blog:moon")
    change_comment(runtime, node, made, {"renderer": "old", "html": "<p>old</p>"})

    render_again(runtime)

    assert read(client, made)["html"] == f"<p>So it is, {SPAN}</p>\n"
