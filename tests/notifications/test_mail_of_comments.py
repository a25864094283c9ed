"""From a comment to the mailbox: by the API, the worker, the schedule and the folder."""

import re
from collections.abc import Callable
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.settings import Settings
from local.schedules import run_schedule
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

NODE = "harbour:moon"
COMMENTS = f"/nodes/{NODE}/comments"
Letters = Callable[[], list[Any]]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update={"mail_from": "", "mail_folder": str(tmp_path / "mail")})


@pytest.fixture
def first(client: Client, clock: Clock) -> str:
    """A comment of a reader who wants letters, at a site that tells."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/sites/harbour/comments/settings", notifications=True).status == 200
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/moon").status == 201
    clock.advance(seconds=6)
    ann = client.as_("ann", name="Ann", email="ann@plaza.example", email_verified=True)
    assert ann.put("/notifications/mail", every="at_once").json["state"] == "on"
    clock.advance(seconds=1)
    return str(ann.post(COMMENTS, text="The moon is up.").json["id"])


@pytest.fixture
def letters(app: Chalice, workers: Workers, clock: Clock, tmp_path: Path) -> Letters:
    """Let five minutes pass, and return the letters of the folder."""

    def arrived() -> list[Any]:
        workers.drain()
        clock.advance(minutes=5)
        run_schedule(app, "mail_notifications")
        workers.drain()
        files = sorted((tmp_path / "mail").glob("*.eml"))
        return [message_from_bytes(each.read_bytes(), policy=default) for each in files]

    return arrived


def test_a_reply_comes_with_its_text_and_is_turned_off_by_one_post(
    client: Client, first: str, letters: Letters, clock: Clock
) -> None:
    """As RFC 8058 has it: an https address and its pair, and a POST without cookies."""
    ben = client.as_("ben", name="Ben")
    reply = ben.post(COMMENTS, text="So **it** is &lt;up>.", parent=first).json["id"]

    (letter,) = letters()

    assert (letter["To"], letter["Subject"]) == ("ann@plaza.example", "Ben replied to you: Moon")
    text = letter.get_body(("plain",)).get_content()
    assert "> So it is <up>." in text
    assert f"https://a.example/moon#plaza-{reply}" in text
    assert "So it is &lt;up&gt;." in letter.get_body(("html",)).get_content()
    found = re.fullmatch(r"<https://plaza\.example(/\S+)>", letter["List-Unsubscribe"])
    assert found is not None
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    body = b"List-Unsubscribe=One-Click"
    assert client.request("POST", found[1], body=body, headers=form).status == 200
    assert ben.post(COMMENTS, text="Is it?", parent=first).status == 201
    clock.advance(days=1)
    assert len(letters()) == 1


def test_a_comment_that_is_hidden_meanwhile_is_in_no_letter(
    client: Client, first: str, letters: Letters, workers: Workers
) -> None:
    ben = client.as_("ben", name="Ben")
    reply = ben.post(COMMENTS, text="So it is.", parent=first).json["id"]
    workers.drain()
    moderator = client.as_("mo", roles=["moderator"])
    assert moderator.post(f"{COMMENTS}/{reply}/state", state="hidden").status == 200

    assert letters() == []


def test_nothing_of_a_person_whom_the_reader_blocks_is_in_a_letter(
    client: Client, first: str, letters: Letters, workers: Workers
) -> None:
    for who in ("ben", "cleo"):
        reply = client.as_(who, name=who.title()).post(COMMENTS, text=f"By {who}.", parent=first)
        assert reply.status == 201
    workers.drain()
    assert client.as_("ann").put("/sites/harbour/blocked/ben").status == 204

    (letter,) = letters()

    assert letter["Subject"] == "Cleo replied to you: Moon"
    assert "By ben." not in letter.get_body(("plain",)).get_content()


def test_what_the_reader_has_opened_is_in_no_letter(
    client: Client, first: str, letters: Letters, workers: Workers
) -> None:
    client.as_("ben", name="Ben").post(COMMENTS, text="So it is.", parent=first)
    workers.drain()
    ann = client.as_("ann")
    assert ann.put("/notifications/seen", until=ann.get("/notifications").json["at"]).status == 204

    assert letters() == []
