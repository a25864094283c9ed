"""A mixed day as locust's users live it; what the server acknowledged is written down.

Runs in locust's own environment, so it knows Plaza by HTTP alone: `bench.load_test` makes the
plan that it reads, and checks what it writes.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

from locust import (  # type: ignore[import-not-found]  # has an environment of its own
    FastHttpUser,
    events,
)

PLAN: dict[str, Any] = json.loads(Path(os.environ["PLAZA_LOAD_PLAN"]).read_text())
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
_ANSWERED, _CREATED, _NO_CONTENT = 200, 201, 204

rng = random.Random(5)  # noqa: S311 - the same day every time
comments: list[tuple[str, str]] = []
posts: list[tuple[str, str]] = []
beacons = {"acknowledged": 0, "failed": 0}


def read_comments(user: Any) -> None:
    """Read the first page of a discussion, as anybody."""
    node = rng.choice(PLAN["nodes"])
    user.client.get(f"/nodes/{node}/comments?limit=50", name="comments")


def see_an_ad(user: Any) -> None:
    """Ask for an ad and tell that it was seen."""
    visitor = rng.choice(PLAN["visitors"])
    path = f"/ads/{PLAN['site']}/{rng.choice(PLAN['zones'])}?visitor={visitor}"
    headers = {"User-Agent": BROWSER}
    answer = user.client.get(path, headers=headers, name="ad")
    if answer.status_code != _ANSWERED:
        return
    for ad in answer.json()["ads"]:
        seen = user.client.post(ad["impression_url"], headers=headers, name="beacon")
        is_acknowledged = seen.status_code == _NO_CONTENT
        beacons["acknowledged" if is_acknowledged else "failed"] += 1


def read_news(user: Any) -> None:
    """Read the first page of news, as one of the readers."""
    token = PLAN["readers"][rng.choice(list(PLAN["readers"]))]
    user.client.get("/users/me/news?limit=25", headers=_bearer(token), name="news")


def write_a_comment(user: Any) -> None:
    """Comment on a page."""
    node, token = rng.choice(PLAN["nodes"]), rng.choice(list(PLAN["readers"].values()))
    body = {"text": "So says somebody who has read the page."}
    answer = user.client.post(
        f"/nodes/{node}/comments", json=body, headers=_bearer(token), name="a comment"
    )
    if answer.status_code == _CREATED:
        comments.append((node, answer.json()["id"]))


def write_a_post(user: Any) -> None:
    """Post to everybody who follows the author."""
    author = rng.choice(list(PLAN["authors"]))
    body = {"type": "status", "detail": {"text": "A fine day."}, "circles": ["*public*"]}
    answer = user.client.post(
        "/posts", json=body, headers=_bearer(PLAN["authors"][author]), name="a post"
    )
    if answer.status_code == _CREATED:
        posts.append((author, answer.json()["id"]))


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class Somebody(FastHttpUser):  # type: ignore[misc]  # locust is not installed where types are checked
    """A user who does one thing after another, as fast as the server answers."""

    tasks = {  # noqa: RUF012 - locust's own form
        read_comments: 70,
        see_an_ad: 20,
        read_news: 8,
        write_a_comment: 1,
        write_a_post: 1,
    }


def write_down(environment: Any, **_: Any) -> None:
    """Write down what was acknowledged, and how long it took."""
    found = {
        "comments": comments,
        "posts": posts,
        "beacons": beacons,
        "calls": [_times(each) for each in environment.stats.entries.values()],
        "total": _times(environment.stats.total),
    }
    Path(PLAN["result"]).write_text(json.dumps(found))


def _times(stats: Any) -> dict[str, Any]:
    return {
        "name": stats.name,
        "requests": stats.num_requests,
        "failures": stats.num_failures,
        "per_second": stats.total_rps,
        "p50_ms": stats.get_response_time_percentile(0.5),
        "p99_ms": stats.get_response_time_percentile(0.99),
    }


events.quitting.add_listener(write_down)
