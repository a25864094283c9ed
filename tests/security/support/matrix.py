"""The access matrix: every route, and what it answers to every kind of caller.

`expected` maps a status to those who get it, by the names and groups of `callers.py`; `*` are all
others. Names in braces come from the world, or are made anew for each caller by `made`, so that
what one caller changes or deletes is there for the next. The rows of a feature stand in `rows/`.
"""

from tests.security.support.rows.activity import ACTIVITY
from tests.security.support.rows.ads import ADS
from tests.security.support.rows.analytics import ANALYTICS
from tests.security.support.rows.assets import ASSETS
from tests.security.support.rows.comments import COMMENTS
from tests.security.support.rows.content import CONTENT
from tests.security.support.rows.orders import ORDERS
from tests.security.support.rows.shop import SHOP
from tests.security.support.rows.social import SOCIAL

from tests.ads.support.factories import BANNER, campaign_body
from tests.assets.support.uploading import digest
from tests.security.support import world as worlds
from tests.security.support.callers import OWN_ADVERTISER, OWN_SITE
from tests.security.support.world import PICTURE, PUBLIC_SITE, Maker


@dataclass(frozen=True)
class Row:
    """One call; `title` says which thing it is about, where a route has several rows."""

    call: str
    expected: dict[int, str]
    title: str = ""
    body: dict[str, Any] | None = None
    # Sent as it is, in place of a body of JSON.
    data: bytes = b""
    query: str = ""
    made: Maker | None = None
    path: dict[str, str] = field(default_factory=dict)
    # What If-Match names.
    version: int | None = None

    def __str__(self) -> str:
        return f"{self.call} {self.title}".strip()


PAGE = {"title": "Page", "url": "https://alpha.example/"}
CAMPAIGN = campaign_body(f"{OWN_SITE}/banner")

COMMENTS = (
    Row("GET /health", {200: "*"}),
    Row("GET /openapi.json", {200: "*"}),
    Row("GET /me", {401: "anonymous", 200: "*"}),
    Row("GET /", {200: "*"}),
    Row("GET /web/{version}/{file}", {200: "*"}, path={"version": "v1", "file": "plaza.js"}),
    Row("GET /docs", {200: "*"}),
    Row("GET /docs/{file}", {200: "*"}),
    Row(
        "PUT /nodes/{node}",
        {201: "managers_of_the_site", 401: "anonymous", 403: "*"},
        "new",
        PAGE,
        made=worlds.new_node,
    ),
    Row(
        "PUT /nodes/{node}",
        {200: "managers_of_the_site", 401: "anonymous", 403: "*"},
        "existing",
        PAGE,
    ),
    Row("GET /nodes/{node}", {200: "*"}),
    Row(
        "PUT /sites/{site}/comments/settings",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body=worlds.COMMENT_SETTINGS,
    ),
    Row(
        "GET /sites/{site}/comments/settings",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
    ),
    Row(
        "DELETE /nodes/{node}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        made=worlds.node,
    ),
    Row(
        "POST /nodes/{node}/move",
        {200: "admin", 401: "anonymous", 403: "*"},
        body={"to": "beta:moved"},
        made=worlds.node,
    ),
    Row("GET /nodes/{node}", {308: "*"}, "moved", made=worlds.moved_node),
    Row(
        "DELETE /nodes/{node}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "moved",
        made=worlds.moved_node,
    ),
    Row("GET /comment-counts", {200: "*"}, query="?nodes=alpha:page"),
    Row(
        "POST /nodes/{node}/store",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"store": "embedded"},
        made=worlds.node,
    ),
    Row("POST /nodes/{node}/comments", {401: "anonymous", 201: "*"}, body={"text": "Indeed"}),
    Row("POST /preview", {401: "anonymous", 200: "*"}, body={"text": "Indeed"}),
    Row("GET /nodes/{node}/comments", {200: "*"}),
    Row("GET /nodes/{node}/comments/{comment}", {200: "*"}),
    Row(
        "GET /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments owner", 404: "*"},
        "pending",
        made=worlds.pending_comment,
    ),
    Row(
        "GET /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments", 404: "*"},
        "hidden",
        made=worlds.hidden_comment,
    ),
    Row("GET /nodes/{node}/comments/{comment}/thread", {200: "*"}),
    Row(
        "GET /nodes/{node}/comments/{comment}/thread",
        {200: "staff_of_comments owner", 404: "*"},
        "pending",
        made=worlds.pending_comment,
    ),
    Row("GET /nodes/{node}/marks", {200: "*"}, query="?ids=gone"),
    Row(
        "GET /sites/{site}/people/{user}",
        {200: "staff_of_comments owner", 401: "anonymous", 403: "*"},
    ),
    Row(
        "PATCH /sites/{site}/people/{user}",
        {200: "staff_of_comments", 401: "anonymous", 403: "*"},
        body={"badges": ["Helper"]},
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/vote",
        {401: "anonymous", 403: "owner", 200: "*"},
        body={"value": 1},
        made=worlds.comment,
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/vote",
        {401: "anonymous", 404: "*"},
        "hidden",
        body={"value": 1},
        made=worlds.hidden_comment,
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/reactions/{key}",
        {401: "anonymous", 200: "*"},
        made=worlds.comment,
    ),
    Row(
        "PUT /nodes/{node}/comments/{comment}/reactions/{key}",
        {401: "anonymous", 404: "*"},
        "pending",
        made=worlds.pending_comment,
    ),
    Row(
        "DELETE /nodes/{node}/comments/{comment}/reactions/{key}",
        {401: "anonymous", 200: "*"},
        made=worlds.comment,
    ),
    Row(
        "GET /nodes/{node}/comments/{comment}/reactions/{key}",
        {401: "anonymous", 200: "*"},
        made=worlds.comment,
    ),
    Row("PUT /nodes/{node}/reactions/{key}", {401: "anonymous", 200: "*"}),
    Row("DELETE /nodes/{node}/reactions/{key}", {401: "anonymous", 200: "*"}),
    Row(
        "PATCH /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments owner", 401: "anonymous", 403: "*"},
        body={"text": "No"},
        made=worlds.comment,
    ),
    Row(
        "PATCH /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments owner", 401: "anonymous", 404: "*"},
        "pending",
        {"text": "No"},
        made=worlds.pending_comment,
    ),
    Row(
        "PATCH /nodes/{node}/comments/{comment}",
        {200: "staff_of_comments", 401: "anonymous", 404: "*"},
        "hidden",
        {"text": "No"},
        made=worlds.hidden_comment,
    ),
    Row(
        "DELETE /nodes/{node}/comments/{comment}",
        {204: "staff_of_comments owner", 401: "anonymous", 403: "*"},
        made=worlds.comment,
    ),
    Row(
        "DELETE /nodes/{node}/comments/{comment}",
        {204: "staff_of_comments owner", 401: "anonymous", 404: "*"},
        "hidden",
        made=worlds.hidden_comment,
    ),
    Row(
        "POST /nodes/{node}/comments/{comment}/state",
        {200: "staff_of_comments", 401: "anonymous", 403: "*"},
        body={"state": "hidden"},
        made=worlds.comment,
    ),
    Row(
        "GET /moderation/comments",
        {200: "staff_of_comments moderator_other moderator_none", 401: "anonymous", 403: "*"},
    ),
)
ADS = (
    Row("GET /ads/{site}/{zone}", {200: "*"}),
    Row(
        "GET /ads/{site}/{zone}/explain",
        {
            200: "owners_of_the_campaign advertiser_other advertiser_none",
            401: "anonymous",
            403: "*",
        },
    ),
    Row("POST /ads/events/{event}", {204: "*"}, body={}),
    Row("GET /ads/events/{event}/pixel", {204: "*"}),
    Row("GET /ads/click/{click}", {302: "*"}),
    Row("GET /ads/conversions/{advertiser}/pixel", {403: "*"}, "unsigned"),
    Row(
        "GET /advertisers/{advertiser}/conversion-key",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
    ),
    Row(
        "POST /advertisers/{advertiser}/conversion-key",
        {201: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        body={},
    ),
    Row(
        "POST /sites/{site}/visitors",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"name": "ann"},
    ),
    Row("DELETE /visitors/{visitor}", {204: "admin", 401: "anonymous", 403: "*"}),
    Row("DELETE /visitors/{visitor}", {204: "*"}, "without a cookie", path={"visitor": "me"}),
    Row(
        "PUT /campaigns/{campaign}",
        {200: "admin", 201: "advertiser_own", 401: "anonymous", 403: "*"},
        "new",
        CAMPAIGN,
        path={"campaign": f"{OWN_ADVERTISER}:new"},
    ),
    Row(
        "PUT /campaigns/{campaign}",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        "existing",
        CAMPAIGN,
        made=worlds.campaign,
    ),
    Row("GET /campaigns/{campaign}", {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"}),
    Row(
        "GET /campaigns/{campaign}",
        {401: "anonymous", 404: "owners_of_the_campaign", 403: "*"},
        "unknown",
        path={"campaign": f"{OWN_ADVERTISER}:none"},
    ),
    Row(
        "POST /campaigns/{campaign}/activate",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        body={},
        made=worlds.campaign,
    ),
    Row(
        "POST /campaigns/{campaign}/deactivate",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        body={},
        made=worlds.campaign,
    ),
    Row(
        "DELETE /campaigns/{campaign}",
        {204: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        made=worlds.campaign,
    ),
    Row(
        "DELETE /sites/{site}/zones/{zone}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        made=worlds.zone,
    ),
    Row("GET /creatives/{token}", {400: "*"}, "forged", path={"token": "forged"}),
    Row(
        "GET /campaigns/{campaign}/budget",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
    ),
    Row(
        "PUT /sites/{site}/zones/{zone}",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"size": BANNER},
        made=worlds.zone,
    ),
    Row("GET /sites/{site}/zones/{zone}", {200: "owners_of_the_site", 401: "anonymous", 403: "*"}),
    Row(
        "GET /sites/{site}/zones/{zone}",
        {401: "anonymous", 404: "owners_of_the_site", 403: "*"},
        "unknown",
        path={"zone": "none"},
    ),
    Row("GET /sites/{site}", {200: "owners_of_the_site", 401: "anonymous", 403: "*"}),
    Row(
        "PUT /sites/{site}", {200: "admin", 401: "anonymous", 403: "*"}, body={"revenue_share": 0.5}
    ),
    Row(
        "GET /accounts/{account}",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        "of an advertiser",
    ),
    Row(
        "GET /accounts/{account}",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "of a site",
        path={"account": f"site:{OWN_SITE}"},
    ),
    Row(
        "GET /accounts/{account}",
        {200: "admin", 401: "anonymous", 403: "*"},
        "of the bank",
        path={"account": "bank"},
    ),
    Row(
        "PUT /accounts/{account}/credit",
        {200: "admin", 401: "anonymous", 403: "*"},
        body={"credit_micros": None},
    ),
    Row(
        "POST /accounts/{account}/transfers",
        {201: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        "from an advertiser",
        {"to_account_id": f"site:{OWN_SITE}", "amount_micros": 1},
    ),
    Row(
        "POST /accounts/{account}/transfers",
        {201: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "from a site",
        {"to_account_id": "bank", "amount_micros": 1},
        path={"account": f"site:{OWN_SITE}"},
    ),
    Row(
        "POST /accounts/{account}/transfers",
        {201: "admin", 401: "anonymous", 403: "*"},
        "from the bank",
        {"to_account_id": f"site:{OWN_SITE}", "amount_micros": 1},
        path={"account": "bank"},
    ),
    Row(
        "GET /reports/campaigns/{campaign}",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        query="?by=day&from=2026-03-01&to=2026-03-02",
    ),
    Row(
        "GET /reports/sites/{site}",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        query="?by=day&from=2026-03-01&to=2026-03-02",
    ),
)
SOCIAL = (
    Row("PUT /users/me", {401: "anonymous", 200: "*"}, body={}),
    Row("GET /users/me", {401: "anonymous", 200: "*"}),
    Row("GET /users/{user}", {200: "*"}),
    Row("GET /users/me/erasure", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/followers", {401: "anonymous", 200: "*"}),
    Row("GET /users/{user}/followers", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/circles", {401: "anonymous", 200: "*"}),
    Row(
        "PUT /users/me/circles/{circle}",
        {401: "anonymous", 201: "*"},
        body={"name": "New"},
        path={"circle": "new"},
    ),
    Row(
        "DELETE /users/me/circles/{circle}",
        {401: "anonymous", 204: "*"},
        made=worlds.circle_of_caller,
    ),
    Row(
        "GET /users/me/circles/{circle}/members",
        {401: "anonymous", 200: "*"},
        made=worlds.circle_of_caller,
    ),
    Row(
        "PUT /users/me/circles/{circle}/members/{user}",
        {401: "anonymous", 422: "stranger", 204: "*"},
        made=worlds.circle_of_caller,
        path={"user": "stranger"},
    ),
    Row(
        "DELETE /users/me/circles/{circle}/members/{user}",
        {401: "anonymous", 204: "*"},
        made=worlds.circle_of_caller,
        path={"user": "stranger"},
    ),
    Row("PUT /users/me/blocked/{user}", {401: "anonymous", 404: "*"}, path={"user": "nobody-yet"}),
    Row(
        "DELETE /users/me/blocked/{user}", {401: "anonymous", 204: "*"}, path={"user": "nobody-yet"}
    ),
    Row(
        "POST /posts",
        {401: "anonymous", 201: "*"},
        "public",
        {"type": "status", "detail": {"text": "Hello"}, "circles": ["*public*"]},
    ),
    Row(
        "POST /posts",
        {401: "anonymous", 201: "*"},
        "on the owner's wall",
        {
            "type": "status",
            "detail": {"text": "Hello"},
            "circles": ["*public*"],
            "wall_owner_id": "ann",
        },
    ),
    Row(
        "POST /posts",
        {201: "owner", 401: "anonymous", 404: "*"},
        "to the owner's circle",
        {"type": "status", "detail": {"text": "Hello"}, "circles": ["club"]},
    ),
    Row("GET /posts/{post}", {404: "blocked", 200: "*"}, "public"),
    Row(
        "GET /posts/{post}",
        {200: "staff_of_social peer owner", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "PATCH /posts/{post}",
        {200: "owner", 401: "anonymous", 404: "blocked", 403: "*"},
        "public",
        {"detail": {"text": "No"}},
        made=worlds.post,
    ),
    Row(
        "PATCH /posts/{post}",
        {200: "owner", 401: "anonymous", 403: "peer", 404: "*"},
        "to a circle",
        {"detail": {"text": "No"}},
        made=worlds.circle_post,
    ),
    Row(
        "DELETE /posts/{post}",
        {204: "staff_of_social owner", 401: "anonymous", 404: "blocked", 403: "*"},
        "public",
        made=worlds.post,
    ),
    Row(
        "DELETE /posts/{post}",
        {204: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "GET /posts/{post}/fan-out",
        {200: "staff_of_social owner", 401: "anonymous", 404: "blocked", 403: "*"},
        "public",
    ),
    Row(
        "GET /posts/{post}/fan-out",
        {200: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "POST /posts/{post}/fan-out", {401: "anonymous", 409: "staff_of_social", 403: "*"}, body={}
    ),
    Row("GET /fan-outs/failed-posts", {200: "staff_of_social", 401: "anonymous", 403: "*"}),
    Row(
        "POST /posts/{post}/comments",
        {401: "anonymous", 404: "blocked", 201: "*"},
        "public",
        {"text": "Yes"},
    ),
    Row(
        "POST /posts/{post}/comments",
        {201: "peer owner", 401: "anonymous", 404: "*"},
        "to a circle",
        {"text": "Yes"},
        made=worlds.circle_post,
    ),
    Row("GET /posts/{post}/comments", {404: "blocked", 200: "*"}, "public"),
    Row(
        "GET /posts/{post}/comments",
        {200: "peer owner", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "PUT /posts/{post}/vote",
        {401: "anonymous", 404: "blocked", 200: "*"},
        "public",
        {"option": "Yes"},
        made=worlds.poll,
    ),
    Row(
        "PUT /posts/{post}/vote",
        {200: "peer owner", 401: "anonymous", 404: "*"},
        "to a circle",
        {"option": "Yes"},
        made=worlds.circle_poll,
    ),
    Row(
        "DELETE /posts/{post}/vote",
        {401: "anonymous", 404: "blocked", 204: "*"},
        "public",
        made=worlds.poll,
    ),
    Row(
        "PUT /posts/{post}/reactions/{kind}",
        {401: "anonymous", 404: "blocked", 200: "*"},
        "public",
        made=worlds.post,
    ),
    Row(
        "PUT /posts/{post}/reactions/{kind}",
        {200: "peer owner", 401: "anonymous", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row(
        "DELETE /posts/{post}/reactions/{kind}",
        {401: "anonymous", 404: "blocked", 204: "*"},
        "public",
        made=worlds.post,
    ),
    Row(
        "DELETE /posts/{post}/reactions/{kind}",
        {204: "peer owner", 401: "anonymous", 404: "*"},
        "to a circle",
        made=worlds.circle_post,
    ),
    Row("GET /users/me/wall", {401: "anonymous", 200: "*"}),
    Row(
        "DELETE /users/me/wall/{post}",
        {204: "owner", 401: "anonymous", 404: "*"},
        "of a stranger on the owner's wall",
        made=worlds.wall_post,
    ),
    Row("GET /users/{user}/wall", {200: "*"}),
    Row("GET /users/me/news", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/incoming", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/export", {401: "anonymous", 200: "*"}),
    Row("DELETE /users/me", {401: "anonymous", 202: "*"}),
)
ACTIVITY = (
    Row(
        "POST /actions",
        {201: "peer owner", 401: "anonymous", 409: "*"},
        "of oneself",
        worlds.action_body(),
    ),
    Row(
        "POST /actions",
        {201: "owner", 401: "anonymous", 409: "application admin", 403: "*"},
        "of another",
        {
            "scope": "team",
            "descriptor": {
                "type": "application_rating",
                "rater_id": "ann",
                "rating_score": 1,
                "applicant_id": "thing:one",
                "applicant_name": "One",
                "position_id": "thing:two",
                "position_name": "Two",
                "tags": [],
            },
        },
    ),
    Row("GET /actions/{action}", {200: "staff_of_social peer owner", 401: "anonymous", 404: "*"}),
    Row(
        "GET /actions/{action}",
        {200: "staff_of_social owner", 401: "anonymous", 404: "*"},
        "hidden",
        made=worlds.hidden_action,
    ),
    Row(
        "PUT /actions/{action}/hidden",
        {204: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
        "hide",
        {"is_hidden": True},
        made=worlds.action,
    ),
    Row(
        "PUT /actions/{action}/hidden",
        {204: "staff_of_social", 401: "anonymous", 403: "owner", 404: "*"},
        "show what staff hid",
        {"is_hidden": False},
        made=worlds.hidden_action,
    ),
    Row(
        "DELETE /actions/{action}",
        {204: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
        made=worlds.action,
    ),
    Row(
        "POST /actions/{action}/comments",
        {201: "peer owner", 401: "anonymous", 404: "*"},
        body={"text": "Yes"},
    ),
    Row("GET /actions/{action}/comments", {200: "peer owner", 401: "anonymous", 404: "*"}),
    Row(
        "PUT /actions/{action}/reaction",
        {204: "peer owner", 401: "anonymous", 404: "*"},
        body={"kind": "like"},
    ),
    Row("DELETE /actions/{action}/reaction", {204: "peer owner", 401: "anonymous", 404: "*"}),
    Row("GET /actions/{action}/reactions", {200: "peer owner", 401: "anonymous", 404: "*"}),
    Row(
        "GET /actions/{action}/fan-out",
        {200: "staff_of_social owner", 401: "anonymous", 403: "peer", 404: "*"},
    ),
    Row(
        "POST /actions/{action}/fan-out",
        {401: "anonymous", 409: "staff_of_social", 403: "*"},
        body={},
    ),
    Row("GET /fan-outs/failed-actions", {200: "staff_of_social", 401: "anonymous", 403: "*"}),
    Row("GET /feed", {401: "anonymous", 200: "*"}),
    Row("GET /feed/unread", {401: "anonymous", 200: "*"}),
    Row("PUT /feed/seen", {401: "anonymous", 204: "*"}, body={}),
    Row("GET /refs/{ref}/actions", {401: "anonymous", 200: "*"}),
    Row("GET /tags/{tag}/actions", {401: "anonymous", 200: "*"}),
    Row(
        "GET /users/{user}/actions", {401: "anonymous", 200: "*"}, query="?type=application_rating"
    ),
    Row("GET /users/me/actions", {401: "anonymous", 200: "*"}, query="?type=new_applicant"),
    Row("PUT /refs/{ref}", {204: "admin", 401: "anonymous", 403: "*"}, body={"name": "One"}),
    Row("PUT /users/me/muted/{user}", {401: "anonymous", 204: "*"}, path={"user": "somebody"}),
    Row("DELETE /users/me/muted/{user}", {401: "anonymous", 204: "*"}, path={"user": "somebody"}),
    Row("GET /users/me/muted", {401: "anonymous", 200: "*"}),
    Row(
        "PUT /users/{user}/org",
        {200: "admin", 401: "anonymous", 403: "*"},
        body={"team": "red", "department": "colours"},
    ),
    Row("GET /users/{user}/org", {200: "admin", 401: "anonymous", 403: "*"}),
    Row("GET /users/me/org", {401: "anonymous", 200: "*"}),
)
WRITTEN = {"type": "page", "slug": "new", "title": "New", "detail": {"text": "Hello"}}
PUBLISHERS = {200: "owners_of_the_site", 401: "anonymous", 403: "*"}
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
        PUBLISHERS,
        body={"version": 1},
        made=worlds.content,
    ),
    Row(
        "POST /content/{site}/nodes/{content}/unpublish",
        PUBLISHERS,
        body={},
        made=worlds.published_content,
    ),
    Row("POST /content/{site}/nodes/{content}/preview", PUBLISHERS, body={}),
    Row("POST /content/{site}/move", PUBLISHERS, body={"from": "none/", "to": "some/"}),
    Row("GET /previews/{token}", {404: "*"}, "forged", path={"token": "forged"}),
    Row("GET /content/{site}", {200: "*"}),
    Row("GET /content/{site}/tags", {200: "*"}),
    Row("GET /content/{site}/page", {200: "*"}, query="?address=page"),
    Row("GET /content/{site}/feed.atom", {200: "*"}),
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
_EDITORS = "writers_of_the_site"
_NEW_VERSION = {"type": "image/png", "length": len(PICTURE), "sha256": digest(PICTURE)}
_NEW_ASSET = {**_NEW_VERSION, "name": "Picture"}
_SITES_ASSETS = (
    Row(
        "POST /content/{site}/assets", {201: _EDITORS, 401: "anonymous", 403: "*"}, body=_NEW_ASSET
    ),
    Row("GET /content/{site}/assets", {200: _EDITORS, 401: "anonymous", 403: "*"}),
    Row("GET /content/{site}/assets/{asset}", {200: _EDITORS, 401: "anonymous", 403: "*"}),
    Row(
        "DELETE /content/{site}/assets/{asset}",
        {204: _EDITORS, 401: "anonymous", 403: "*"},
        made=worlds.asset,
    ),
    Row(
        "POST /content/{site}/assets/{asset}/versions",
        {201: _EDITORS, 401: "anonymous", 403: "*"},
        body=_NEW_VERSION,
    ),
    Row("GET /content/{site}/uploads/{upload}", {200: _EDITORS, 401: "anonymous", 403: "*"}),
    Row(
        "PUT /content/{site}/uploads/{upload}/parts/{number}",
        {204: _EDITORS, 401: "anonymous", 403: "*"},
        data=PICTURE,
    ),
    Row(
        "POST /content/{site}/uploads/{upload}/finish",
        {200: _EDITORS, 401: "anonymous", 403: "*"},
        made=worlds.upload,
    ),
    Row(
        "GET /content/{site}/assets/store", {200: "owners_of_the_site", 401: "anonymous", 403: "*"}
    ),
    Row(
        "POST /content/{site}/assets/store",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"store": "gridfs"},
    ),
    Row("GET /assets/{asset}", {302: "*"}),
    Row("GET /assets/{asset}/{number}", {200: "*"}),
)
# Of another's assets nobody knows here, so these are not there.
_OWN_ASSETS = (
    Row("POST /users/me/assets", {401: "anonymous", 201: "*"}, body=_NEW_ASSET),
    Row("GET /users/me/assets", {401: "anonymous", 200: "*"}),
    Row("GET /users/me/assets/{asset}", {401: "anonymous", 404: "*"}),
    Row("DELETE /users/me/assets/{asset}", {401: "anonymous", 404: "*"}),
    Row("POST /users/me/assets/{asset}/versions", {401: "anonymous", 404: "*"}, body=_NEW_VERSION),
    Row("GET /users/me/uploads/{upload}", {401: "anonymous", 404: "*"}),
    Row(
        "PUT /users/me/uploads/{upload}/parts/{number}", {401: "anonymous", 404: "*"}, data=PICTURE
    ),
    Row("POST /users/me/uploads/{upload}/finish", {401: "anonymous", 404: "*"}),
)
ASSETS = (*_SITES_ASSETS, *_OWN_ASSETS)

PRODUCT = {
    "type": "book",
    "title": "Moby-Dick",
    "state": "active",
    "skus": [{"sku": "NEW-SKU", "price_micros": 5_000_000}],
    "details": {"author": ["Melville"]},
}
OWNERS = {200: "owners_of_the_site", 401: "anonymous", 403: "*"}
SHOP = (
    Row("PUT /shops/{site}", OWNERS, body={"currency": "EUR"}),
    Row("GET /shops/{site}", OWNERS),
    Row("POST /shops/{site}/layout", OWNERS, body={"store": "details"}),
    Row("POST /shops/{site}/tree", OWNERS, body={"store": "ancestors"}),
    Row("GET /shops/{site}/categories", {200: "*"}),
    Row("GET /shops/{site}/categories/{category}", {200: "*"}),
    Row("GET /shops/{site}/products", {200: "*"}, query="?facets=1&f.author=Melville"),
    Row(
        "PUT /shops/{site}/categories/{category}",
        OWNERS,
        body={"name": "Novels", "slug": "novels"},
    ),
    Row("POST /shops/{site}/categories/{category}/move", OWNERS, body={"parent": None}),
    Row(
        "DELETE /shops/{site}/categories/{category}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        made=worlds.category,
    ),
    Row(
        "PUT /shops/{site}/products/{product}",
        {201: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "new",
        PRODUCT,
        made=worlds.no_product,
    ),
    Row(
        "PUT /shops/{site}/products/{product}",
        OWNERS,
        "existing",
        PRODUCT,
        made=worlds.product,
        version=1,
    ),
    Row("GET /shops/{site}/products/{product}", {200: "*"}),
    Row(
        "GET /shops/{site}/products/{product}",
        {200: "owners_of_the_site", 404: "*"},
        "archived",
        made=worlds.archived_product,
    ),
    Row(
        "DELETE /shops/{site}/products/{product}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        made=worlds.product,
    ),
)
_SOLD = {200: "owners_of_the_site", 401: "anonymous", 404: "publisher_other", 403: "*"}
_BUYERS = {200: "owner owners_of_the_site", 404: "*"}
CHECKOUT = {
    "total_micros": 5_000_000,
    "email": "ann@example.org",
    "address": worlds.ADDRESS,
}
ORDERS = (
    Row(
        "POST /shops/{site}/stock/{sku}",
        OWNERS,
        body={"change": 1, "key": "more"},
        made=worlds.stock,
    ),
    Row("GET /shops/{site}/stock", {200: "*"}, query="?skus=NEW-SKU"),
    Row("POST /carts", {201: "*"}, body={"site": OWN_SITE}),
    Row("GET /carts/{cart}", {200: "*"}),
    Row("POST /carts/{cart}/claim", {401: "anonymous", 200: "*"}, made=worlds.cart),
    Row("PUT /carts/{cart}/lines/{sku}", {200: "*"}, body={"qty": 2}, made=worlds.cart),
    Row("DELETE /carts/{cart}/lines/{sku}", {200: "*"}, made=worlds.cart),
    Row("POST /carts/{cart}/hold", {200: "*"}, made=worlds.cart),
    Row("POST /carts/{cart}/checkout", {201: "*"}, body=CHECKOUT, made=worlds.cart),
    Row("GET /orders/{order}", _BUYERS),
    Row("POST /orders/{order}/payment", _BUYERS, made=worlds.order),
    Row("POST /orders/{order}/cancel", _BUYERS, made=worlds.order),
    Row("GET /shops/{site}/orders", OWNERS),
    Row("GET /users/me/orders", {401: "anonymous", 200: "*"}),
    Row(
        "POST /orders/{order}/refund",
        _SOLD,
        body={"restock": True, "key": "back"},
        made=worlds.paid_order,
    ),
    Row("POST /orders/{order}/sent", _SOLD),
    # Stripe has no token: its events are signed, which tests/shop/orders/test_stripe.py checks.
    Row("POST /payments/stripe/webhook", {400: "*"}),
)
_SPAN = "?from=2026-03-01&to=2026-03-02"
_OWN = {200: "owners_of_the_site", 401: "anonymous", 403: "*"}
ANALYTICS = (
    Row(
        "POST /hits",
        {202: "*"},
        body={"site": OWN_SITE, "hits": [{"path": "/page"}]},
    ),
    Row("GET /hits/{site}/pixel", {204: "*"}, query="?path=/page"),
    Row("PUT /hits/ignore", {204: "*"}),
    Row("DELETE /hits/ignore", {204: "*"}),
    Row("GET /sites/{site}/analytics", _OWN),
    Row("PUT /sites/{site}/analytics", _OWN, body={"user_reports": True}),
    Row(
        "POST /sites/{site}/analytics/log",
        {202: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"log": "expiring"},
    ),
    Row("POST /sites/{site}/analytics/layout", _OWN, body={"layout": "hierarchical"}),
    Row("GET /stats/{site}", _OWN, "private", query=_SPAN),
    Row("GET /stats/{site}", {200: "*"}, "public", query=_SPAN, path={"site": PUBLIC_SITE}),
    Row("GET /stats/{site}/now", _OWN, "private"),
    Row("GET /stats/{site}/now", {200: "*"}, "public", path={"site": PUBLIC_SITE}),
    Row("GET /stats/{site}/hits", _OWN),
    Row("GET /stats/{site}/sessions", _OWN, query=_SPAN),
    Row("GET /page-counts", _OWN, "private", query=f"?site={OWN_SITE}&paths=/page"),
    Row("GET /page-counts", {200: "*"}, "public", query=f"?site={PUBLIC_SITE}&paths=/page"),
    Row(
        "DELETE /stats/{site}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        query="?path=/spam",
    ),
)
FEATURES = {
    "assets": ASSETS,
    "comments": COMMENTS,
    "ads": ADS,
    "social": SOCIAL,
    "activity": ACTIVITY,
    "content": CONTENT,
    "shop": SHOP,
    "orders": ORDERS,
    "analytics": ANALYTICS,
}
