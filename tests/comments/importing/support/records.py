"""Records of Remark42, Commento, Twikoo, Waline and Artalk, and files with some of them."""

import json
from datetime import UTC, datetime
from typing import Any

NOON = datetime(2020, 7, 2, 12, tzinfo=UTC)
ISO = "2020-07-02T12:00:00Z"
REMARK: dict[str, Any] = {
    "id": "1",
    "pid": "",
    "text": "<p><b>bold</b></p>",
    "orig": "**bold**\nline",
    "user": {"name": "Ann", "id": "github_ab12"},
    "locator": {"site": "s", "url": "https://a.example/b"},
    "score": 0,
    "votes": None,
    "time": "2020-07-02T14:00:00.5+02:00",
}
COMMENTO: dict[str, Any] = {
    "commentHex": "c1",
    "domain": "a.example",
    "path": "/b",
    "commenterHex": "p1",
    "markdown": "*words*",
    "html": "<p><em>words</em></p>",
    "parentHex": "root",
    "score": 0,
    "state": "approved",
    "creationDate": ISO,
}
TWIKOO: dict[str, Any] = {
    "_id": {"$oid": "65a0"},
    "uid": "browser1",
    "nick": "Ann",
    "mail": "",
    "url": "/b/",
    "href": "https://a.example/b/",
    "comment": "<p><b>bold</b></p>",
    "isSpam": False,
    "created": {"$numberLong": "1593691200000"},
}
WALINE: dict[str, Any] = {
    "objectId": "w1",
    "nick": "Ann",
    "mail": "ann@mail.example",
    "url": "/b/",
    "comment": "*words*",
    "status": "approved",
    "insertedAt": ISO,
}
ARTALK: dict[str, str] = {
    "id": "1",
    "rid": "0",
    "content": "*words*",
    "nick": "Ann",
    "email": "ann@mail.example",
    "is_pending": "false",
    "created_at": "2020-07-02 20:00:00 +0800",
    "vote_up": "3",
    "vote_down": "1",
    "page_key": "https://a.example/b",
    "page_title": "B",
    "site_name": "A",
}


def remark(*records: dict[str, Any], **first: Any) -> str:
    """Return a backup with these comments, upon the one above."""
    head = {"version": 1, "users": [], "posts": [], **first}
    return "\n".join(map(json.dumps, [head, *({**REMARK, **each} for each in records)]))


def commento(*records: dict[str, Any], commenters: list[dict[str, str]] | None = None) -> str:
    """Return an export with these comments, upon the one above."""
    made = [{**COMMENTO, **each} for each in records]
    return json.dumps({"version": 1, "comments": made, "commenters": commenters or []})


def twikoo(*records: dict[str, Any]) -> str:
    """Return an export with these comments, upon the one above."""
    return json.dumps([{**TWIKOO, **each} for each in records])


def waline(*records: dict[str, Any]) -> str:
    """Return an export with these comments, upon the one above."""
    made = [{**WALINE, **each} for each in records]
    return json.dumps({"type": "waline", "version": 1, "data": {"Comment": made, "Users": [{}]}})


def artalk(*records: dict[str, str]) -> str:
    """Return an export with these comments, upon the one above."""
    return json.dumps([{**ARTALK, **each} for each in records])
