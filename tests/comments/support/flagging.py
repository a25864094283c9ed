"""Flags as tests place them, and what the site then has of comments and people."""

from datetime import timedelta
from typing import Any

from chalicelib.comments.entries import upkeep
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.people.rows import NO_COUNTS, PEOPLE, new_person
from chalicelib.runtime import Runtime
from chalicelib.wiring import marks
from tests.support.http_client import Client, Reply

NODE = "/nodes/blog:moon"
PAGE = {"title": "Moon", "url": "https://blog.example/moon"}


def moderator_of(client: Client) -> Client:
    return client.as_("mo", roles=["moderator"], sites=["blog"])


def posted(client: Client, author: str) -> str:
    made = client.as_(author).post(f"{NODE}/comments", text="Full tonight")
    assert made.status == 201, made.body
    return f"{NODE}/comments/{made.json['id']}"


def flag(client: Client, who: str, comment: str, reason: Any = "spam", **given: Any) -> Reply:
    return client.as_(who).put(f"{comment}/flag", reason=reason, **given)


def know(runtime: Runtime, user: str, site: str = "blog", **counts: int) -> None:
    """Have the site know somebody for long, with these counts."""
    person = new_person(site, user, user)
    person["first_at"] = runtime.now() - timedelta(days=9)
    person["counts"] = {**NO_COUNTS, **counts}  # type: ignore[typeddict-item]
    PEOPLE.of(runtime.database).replace_one({"_id": person["_id"]}, person, upsert=True)


def entry(runtime: Runtime, comment: str) -> Any:
    key = {"site": "blog", "id": comment.rpartition("/")[2]}
    return ENTRIES.of(runtime.database).find_one(key)


def weight(moderator: Client, comment: str) -> float:
    return float(moderator.get(f"{comment}/flags").json["weight"])


def counts(runtime: Runtime, user: str) -> Any:
    found = PEOPLE.of(runtime.database).find_one({"_id": f"blog/{user}"})
    return found and (found["counts"]["flags_right"], found["counts"]["flags_wrong"])


def assert_exact(runtime: Runtime) -> None:
    found = marks.verify(runtime, "comment")
    assert (found["wrong"], found["owed"]) == (0, 0)
    differing = upkeep.compare_nodes(runtime, is_repairing=False)
    assert (differing["missing"], differing["wrong"], differing["extra"]) == (0, 0, 0)
