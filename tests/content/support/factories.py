"""A site that publishes, and those who write for it."""

from typing import Any

import orjson

from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader
from tests.support.http_client import Client, Reply

SITE = "harbour"
BASE = "https://harbour.example"
NO_ASSET = "aaneGAECAwQFBgcI"


def publisher(client: Client) -> Client:
    """Return the site's publisher."""
    return client.as_("paula", roles=["publisher"], sites=[SITE])


def editor(client: Client, name: str = "edda") -> Client:
    """Return an editor of the site."""
    return client.as_(name, roles=["editor"], sites=[SITE])


def set_up(client: Client, **settings: Any) -> None:
    """Give the site its settings."""
    given = {"title": "The Harbour", "base_url": BASE, **settings}
    reply = publisher(client).put(f"/content/{SITE}/settings", **given)
    assert reply.status == 200, reply.body


def new(slug: str = "moon", **others: Any) -> dict[str, Any]:
    """Return a page to write."""
    body = {
        "type": "page",
        "slug": slug,
        "title": slug.title(),
        "detail": {"text": "It is *full*."},
    }
    return {**body, **others}


def write(client: Client, slug: str = "moon", **others: Any) -> str:
    """Write a page as its editor; return its id."""
    reply = client.post(f"/content/{SITE}/nodes", **new(slug, **others))
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def picture(client: Client, site: str = SITE) -> str:
    """Upload a picture for a site; return its id."""
    eda = client.as_("eda", roles=["editor"], sites=[site])
    return str(Uploader(eda, f"/content/{site}").upload(png(), "image/png")["id"])


def node(node_id: str) -> str:
    """Return a page's path."""
    return f"/content/{SITE}/nodes/{node_id}"


def save(client: Client, node_id: str, version: int, **change: Any) -> Reply:
    """Save a draft of which this version was read."""
    return with_version(client, "PATCH", node(node_id), f'"{version}"', change)


def with_version(
    client: Client, method: str, path: str, tag: str | None, body: dict[str, Any]
) -> Reply:
    """Make a call that names a version."""
    headers = {"Content-Type": "application/json", **({"If-Match": tag} if tag else {})}
    return client.request(method, path, body=orjson.dumps(body), headers=headers)


def publish(client: Client, node_id: str, version: int = 1, **given: Any) -> Reply:
    """Publish a page as the site's publisher."""
    return publisher(client).post(f"{node(node_id)}/publish", version=version, **given)


def republish(client: Client, node_id: str, version: int, text: str, **given: Any) -> None:
    """Save another text of a page, of which this version was read, and publish it."""
    assert save(editor(client), node_id, version, detail={"text": text}).status == 200
    assert publish(client, node_id, version + 1, **given).status == 200


def published(client: Client, slug: str = "moon", *, at: str | None = None, **others: Any) -> str:
    """Write a page and publish it; return its id."""
    node_id = write(editor(client), slug, **others)
    given: dict[str, Any] = {"at": at} if at else {}
    reply = publish(client, node_id, **given)
    assert reply.status == 200, reply.body
    return node_id


def read(client: Client, address: str, more: str = "") -> Reply:
    """Read the page at an address."""
    return client.get(f"/content/{SITE}/page?address={address}{more}")


def listed(client: Client, query: str = "") -> list[str]:
    """Return the addresses of a list, page by page."""
    found: list[str] = []
    cursor = ""
    while True:
        page = client.get(f"/content/{SITE}?limit=200{query}{cursor}").json
        found += [each["address"] for each in page["entries"]]
        if page["next"] is None:
            return found
        cursor = f"&cursor={page['next']}"
