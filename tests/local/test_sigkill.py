"""A power cut during fan-out: whatever was acknowledged reaches everyone, once."""

import json
from pathlib import Path
from typing import Any

import pytest

from chalicelib.runtime import utc_now
from chalicelib.settings import Settings
from local.tokens import mint
from tests.local.stack import Stack, call, server, wait_until

pytestmark = pytest.mark.processes

READERS = [f"reader-{number}" for number in range(25)]
POSTS_PER_LIFE = 8
LIVES = 3


def token_of(folder: Path, user: str) -> str:
    secrets = json.loads((folder / "data" / "secrets.json").read_text())
    settings = Settings(jwt_secret=secrets["PLAZA_JWT_SECRET"])
    return mint(settings, utc_now(), user)


def publish(url: str, token: str, count: int) -> list[str]:
    """Publish public posts; return the ids of those that were acknowledged."""
    post = {"type": "status", "detail": {"text": "Hello"}, "circles": ["*public*"]}
    answers = [call("POST", f"{url}/posts", token, post) for _ in range(count)]
    assert all(status == 201 for status, _ in answers), answers
    return [body["id"] for _, body in answers]


def test_every_post_reaches_every_follower_exactly_once(tmp_path: Path) -> None:
    published: list[str] = []

    for life in range(LIVES):
        with server(tmp_path, "--empty", PLAZA_LEASE_MS="500") as stack:
            url = stack.wait_until_running()
            if life == 0:
                everyone_follows_the_author(url, tmp_path)
            published += publish(url, token_of(tmp_path, "author"), POSTS_PER_LIFE)
            stack.kill_group()
            # What no queue could have known: the queue is a courier, the sweep finds the rest.
            for file in (tmp_path / "data" / "queues").iterdir():
                file.unlink()

    with server(tmp_path, "--empty", PLAZA_LEASE_MS="500") as stack:
        url = stack.wait_until_running()
        wait_until(lambda: all_delivered(stack, url, tmp_path, published), "all is delivered")
        for reader in READERS:
            page = call("GET", f"{url}/users/me/news?limit=200", token_of(tmp_path, reader))[1]
            assert sorted(post["id"] for post in page["posts"]) == sorted(published), reader


def everyone_follows_the_author(url: str, folder: Path) -> None:
    call("PUT", f"{url}/users/me", token_of(folder, "author"), {"name": "Author"})
    for reader in READERS:
        token = token_of(folder, reader)
        circle = f"{url}/users/me/circles/read"
        assert call("PUT", circle, token, {"name": "What I read"})[0] < 300
        assert call("PUT", f"{circle}/members/author", token)[0] == 204


def all_delivered(stack: Stack, url: str, folder: Path, posts: list[str]) -> bool:
    assert stack.process.poll() is None, stack.printed()
    token = token_of(folder, "author")
    states: list[Any] = [call("GET", f"{url}/posts/{post}/fan-out", token)[1] for post in posts]
    return all(state["state"] == "done" for state in states)
