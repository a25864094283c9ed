"""The access matrix: every route, and what it answers to every kind of caller.

`expected` maps a status to those who get it, by the names and groups of `callers.py`; `*` are all
others. Names in braces come from the world, or are made anew for each caller by `made`, so that
what one caller changes or deletes is there for the next.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.ads.support.factories import BANNER, campaign_body
from tests.security.support import world as worlds
from tests.security.support.callers import OWN_ADVERTISER, OWN_SITE
from tests.security.support.world import Maker


@dataclass(frozen=True)
class Row:
    """One call; `title` says which thing it is about, where a route has several rows."""

    call: str
    expected: dict[int, str]
    title: str = ""
    body: dict[str, Any] | None = None
    query: str = ""
    made: Maker | None = None
    path: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.call} {self.title}".strip()


PAGE = {"title": "Page", "url": "https://alpha.example/"}
CAMPAIGN = campaign_body(f"{OWN_SITE}/banner")

COMMENTS = (
    Row("GET /health", {200: "*"}),
    Row("GET /openapi.json", {200: "*"}),
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
        {"to": f"site:{OWN_SITE}", "amount_micros": 1},
    ),
    Row(
        "POST /accounts/{account}/transfers",
        {201: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "from a site",
        {"to": "bank", "amount_micros": 1},
        path={"account": f"site:{OWN_SITE}"},
    ),
    Row(
        "POST /accounts/{account}/transfers",
        {201: "admin", 401: "anonymous", 403: "*"},
        "from the bank",
        {"to": f"site:{OWN_SITE}", "amount_micros": 1},
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
        {"type": "status", "detail": {"text": "Hello"}, "circles": ["*public*"], "wall": "ann"},
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
    Row("GET /fan-outs/failed", {200: "staff_of_social", 401: "anonymous", 403: "*"}),
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
        {"hidden": True},
        made=worlds.action,
    ),
    Row(
        "PUT /actions/{action}/hidden",
        {204: "staff_of_social", 401: "anonymous", 403: "owner", 404: "*"},
        "show what staff hid",
        {"hidden": False},
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
FEATURES = {"comments": COMMENTS, "ads": ADS, "social": SOCIAL, "activity": ACTIVITY}
