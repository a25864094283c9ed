"""What the matrix says of the routes of content."""

from tests.security.support import world as worlds
from tests.security.support.row import OWNERS, Row

WRITTEN = {"type": "page", "slug": "new", "title": "New", "detail": {"text": "Hello"}}
WRITERS = {200: "writers_of_the_site", 401: "anonymous", 403: "*"}
CONTENT = (
    Row(
        "PUT /content/{site}/settings",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"title": "Alpha", "base_url": "https://alpha.example"},
    ),
    Row(
        "GET /content/{site}/settings",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
    ),
    Row(
        "POST /content/{site}/nodes",
        {201: "writers_of_the_site", 401: "anonymous", 403: "*"},
        body=WRITTEN,
    ),
    Row("GET /content/{site}/nodes/{content}", WRITERS),
    Row(
        "PATCH /content/{site}/nodes/{content}",
        WRITERS,
        body={"title": "Newer"},
        made=worlds.content,
        version=1,
    ),
    Row("GET /content/{site}/desk", WRITERS),
    Row("GET /content/{site}/nodes/{content}/revisions", WRITERS),
    Row("GET /content/{site}/nodes/{content}/revisions/{revision}", WRITERS),
    Row("GET /content/{site}/nodes/{content}/revisions/{revision}/diff/{other}", WRITERS),
    Row(
        "POST /content/{site}/nodes/{content}/revisions/{revision}/restore",
        WRITERS,
        body={},
        made=worlds.content,
        version=1,
    ),
    Row(
        "POST /content/{site}/nodes/{content}/publish",
        OWNERS,
        body={"version": 1},
        made=worlds.content,
    ),
    Row(
        "POST /content/{site}/nodes/{content}/unpublish",
        OWNERS,
        body={},
        made=worlds.published_content,
    ),
    Row("POST /content/{site}/nodes/{content}/preview", OWNERS, body={}),
    Row("POST /content/{site}/move", OWNERS, body={"from": "none/", "to": "some/"}),
    Row("GET /previews/{token}", {404: "*"}, "forged", path={"token": "forged"}),
    Row("GET /content/{site}", {200: "*"}),
    Row("GET /content/{site}/tags", {200: "*"}),
    Row("GET /content/{site}/search", {200: "*"}, query="?q=page"),
    Row("GET /content/{site}/page", {200: "*"}, query="?address=page"),
    Row("GET /content/{site}/feed.atom", {200: "*"}),
    Row("GET /content/{site}/sitemap.xml", {200: "*"}),
    Row("GET /content/{site}/pages.xml", {200: "*"}),
    Row("GET /content/{site}/feed.json", {200: "*"}),
    Row(
        "DELETE /content/{site}/nodes/{content}",
        {204: "writers_of_the_site", 401: "anonymous", 403: "*"},
        "a draft of the editor",
        made=worlds.content,
    ),
    Row(
        "DELETE /content/{site}/nodes/{content}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "published",
        made=worlds.published_content,
    ),
)
