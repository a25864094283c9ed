"""What the matrix says of hits and statistics."""

from tests.security.support.callers import OWN_SITE
from tests.security.support.row import OWNERS, Row
from tests.security.support.world import PUBLIC_SITE

_SPAN = "?from=2026-03-01&to=2026-03-02"
ANALYTICS = (
    Row(
        "POST /hits",
        {202: "*"},
        body={"site": OWN_SITE, "hits": [{"path": "/page"}]},
    ),
    Row("GET /hits/{site}/pixel", {200: "*"}, query="?path=/page"),
    Row("PUT /hits/ignore", {204: "*"}),
    Row("DELETE /hits/ignore", {204: "*"}),
    Row("GET /sites/{site}/analytics", OWNERS),
    Row("PUT /sites/{site}/analytics", OWNERS, body={"user_reports": True}),
    Row(
        "POST /sites/{site}/analytics/log",
        {202: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"log": "expiring"},
    ),
    Row("POST /sites/{site}/analytics/layout", OWNERS, body={"layout": "hierarchical"}),
    Row("GET /stats/{site}", OWNERS, "private", query=_SPAN),
    Row("GET /stats/{site}", {200: "*"}, "public", query=_SPAN, path={"site": PUBLIC_SITE}),
    Row("GET /stats/{site}/now", OWNERS, "private"),
    Row("GET /stats/{site}/now", {200: "*"}, "public", path={"site": PUBLIC_SITE}),
    Row("GET /stats/{site}/hits", OWNERS),
    Row("GET /stats/{site}/losses", OWNERS, query=_SPAN),
    Row("GET /stats/{site}/sessions", OWNERS, query=_SPAN),
    Row("GET /page-counts", OWNERS, "private", query=f"?site={OWN_SITE}&paths=/page"),
    Row("GET /page-counts", {200: "*"}, "public", query=f"?site={PUBLIC_SITE}&paths=/page"),
    Row(
        "DELETE /stats/{site}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        query="?path=/spam",
    ),
)
