"""The newspaper's articles as demo data: content with pictures, and readers who are counted."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from chalicelib.database import Document

FOLDER = Path(__file__).resolve().parents[1] / "web" / "site"
ARTICLES: list[dict[str, Any]] = json.loads((FOLDER / "articles.json").read_text())
NAME, SITE = "The Harbour Post", "harbour-post"
# Below it, the newspaper shows what the site publishes.
PREFIX = "articles/"
# The most hits of a beacon.
_HITS = 20

Call = Callable[..., Document]


def load(call: Call, site: str, address: str) -> None:
    """Write and publish the articles, and report their reads; the first article is the newest."""
    editor: Any = {"sub": "editor", "roles": ["admin"]}
    settings = {"title": NAME, "base_url": address, "language": "en"}
    path = f"/content/{site}/settings"
    # The articles have discussions already; pages published later get their own.
    call("PUT", path, {**settings, "comments": "off"}, **editor)
    for article in reversed(ARTICLES):
        _publish(call, site, article, editor)
    call("PUT", path, settings, **editor)
    call("PUT", f"/sites/{site}/analytics", {"public": True}, **editor)
    for hits in _beacons():
        call("POST", "/hits", {"site": site, "hits": hits}, sub="reader")


def _publish(call: Call, site: str, article: dict[str, Any], editor: Any) -> None:
    text = (FOLDER / "articles" / f"{article['name']}.md").read_text()
    page = {
        "type": "blog",
        "slug": f"{PREFIX}{article['name']}",
        "title": article["title"],
        "summary": article["summary"],
        "tags": [article["section"], *article["keywords"].split(",")],
        "detail": {"text": text, "cover": _picture(call, site, article, editor)},
    }
    path = f"/content/{site}/nodes"
    node = call("POST", path, page, **editor)
    call("POST", f"{path}/{node['id']}/publish", {"version": 1}, **editor)


def _picture(call: Call, site: str, article: dict[str, Any], editor: Any) -> str:
    """Upload an article's picture, which is one part; return the asset's id."""
    content = (FOLDER / "articles" / article["picture"]).read_bytes()
    asked = {
        "name": article["alt"],
        "type": "image/webp",
        "length": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    upload = call("POST", f"/content/{site}/assets", asked, **editor)
    call("PUT", _path(upload["parts"][0]["url"]), content, **editor)
    asset: str = call("POST", _path(upload["finish_url"]), {}, **editor)["id"]
    return asset


def _path(url: str) -> str:
    """Return the path of a content address, without the API's own address."""
    return url[url.index("/content/") :]


def _beacons() -> Iterator[list[Document]]:
    """Yield the hits of each beacon; each article has as many hits as the demo says."""
    hits = [
        # An id has 16 characters.
        {"id": f"{article['name'][:10]:->12}{number:04d}", "path": f"/{PREFIX}{article['name']}"}
        for article in ARTICLES
        for number in range(article["reads"])
    ]
    for start in range(0, len(hits), _HITS):
        yield hits[start : start + _HITS]
