"""Uploads through the API, as a client makes them."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from chalicelib.assets.shapes import CHUNKS, FILES, UPLOADS, WASTE
from chalicelib.runtime import Runtime
from tests.support.http_client import Client, Reply

SITE = "blog"
BYTES = {"Content-Type": "application/octet-stream"}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def editor_of(client: Client, site: str = SITE) -> Client:
    return client.as_("eda", roles=["editor"], sites=[site])


@dataclass(frozen=True)
class Uploader:
    """A caller who sends files to the assets below a path."""

    client: Client
    folder: str = f"/content/{SITE}"

    def begin(self, content: bytes, kind: str, to: str = "/assets", **given: Any) -> Reply:
        """Begin an upload; returns the answer."""
        told = {"type": kind, "length": len(content), "sha256": digest(content), **given}
        if to == "/assets":
            told.setdefault("name", "A file")
        return self.client.post(f"{self.folder}{to}", **told)

    def send(self, upload: dict[str, Any], content: bytes, numbers: Iterable[int] = ()) -> None:
        """Send the parts, or those of these numbers, to where the upload says."""
        size = upload["part_bytes"]
        for part in upload["parts"]:
            if not numbers or part["number"] in numbers:
                start = (part["number"] - 1) * size
                reply = self.put(part["url"], content[start : start + size])
                assert reply.status == 204, reply.body

    def put(self, url: str, data: bytes) -> Reply:
        return self.client.request("PUT", url, body=data, headers=BYTES)

    def finish(self, upload: dict[str, Any]) -> Reply:
        return self.client.request("POST", upload["finish_url"])

    def upload(
        self, content: bytes, kind: str, to: str = "/assets", **given: Any
    ) -> dict[str, Any]:
        """Send a whole file; return the asset."""
        begun = self.begin(content, kind, to, **given)
        assert begun.status == 201, begun.body
        self.send(begun.json, content)
        reply = self.finish(begun.json)
        assert reply.status == 200, reply.body
        asset: dict[str, Any] = reply.json
        return asset


def orphans(runtime: Runtime) -> set[str]:
    """Return the blobs of which chunks are stored, and that nothing will ever name."""
    database = runtime.database
    stored = set(CHUNKS.of(database).distinct("files_id"))
    known: set[str] = set(FILES.of(database).distinct("_id"))
    known |= set(UPLOADS.of(database).distinct("_id"))
    known |= set(UPLOADS.of(database).distinct("clean"))
    return stored - known - set(WASTE.of(database).distinct("_id"))
