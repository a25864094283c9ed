"""Files of Plaza's own lines, sent by the API as a publisher sends them."""

import json
from typing import Any

from chalicelib.comments.transfers import runs, upkeep
from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.runtime import Runtime
from tests.assets.support.uploading import Uploader
from tests.support.http_client import Client

URL = "https://blog.example/a-page"
IMPORTS = "/sites/blog/imports"
AT = "2020-01-01T00:00:00.000Z"


def lines_file(comments: int, pages: int = 1) -> bytes:
    """Return a file with so many comments on each of so many pages."""
    lines: list[dict[str, Any]] = [{"plaza": 1, "kind": "export", "site": "old", "at": AT}]
    for page in range(pages):
        name = "a-page" if page == 0 else f"page-{page}"
        url = f"https://blog.example/{name}"
        lines.append(
            {"kind": "node", "id": f"old:{name}", "url": url, "title": "A page", "locked": False}
        )
        lines += [_comment(page, number) for number in range(comments)]
    lines.append({"kind": "end", "nodes": pages, "comments": comments * pages})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _comment(page: int, number: int) -> dict[str, Any]:
    return {
        "kind": "comment",
        "id": f"c{page:04}{number:05}",
        "parent": f"c{page:04}{number - 1:05}" if number % 3 else None,
        "posted": f"2020-01-01T{number // 3_600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "edited": None,
        "author": {"id": f"p{number % 7}", "name": f"Person {number % 7}"},
        "text": f"text {number}",
        "state": "visible",
        "up": 1,
        "down": 0,
        "votes": [],
    }


def begin(publisher: Client, site: str, content: bytes, **wanted: Any) -> Any:
    """Begin an import and send its file; return the import as it is then."""
    begun = publisher.post(f"/sites/{site}/imports", length=len(content), **wanted)
    assert begun.status == 201, begun.body
    Uploader(publisher).send(begun.json, content)
    return begun.json


def run(runtime: Runtime, transfer: str, site: str = "blog") -> None:
    """Run a transfer as a message has a worker do."""
    runs.run(runtime, RunTransfer(site=site, transfer=transfer))


def sweep(runtime: Runtime) -> int:
    return upkeep.sweep(runtime)


def read(publisher: Client, transfer: str) -> Any:
    reply = publisher.get(f"{IMPORTS}/{transfer}")
    assert reply.status == 200, reply.body
    return reply.json
