"""What the matrix says of webhooks."""

from tests.security.support import world as worlds
from tests.security.support.row import OWNERS, Row

URL = "https://alpha.example/events"
_NEW = {201: "owners_of_the_site", 401: "anonymous", 403: "*"}
_GONE = {204: "owners_of_the_site", 401: "anonymous", 403: "*"}
_SENT = {202: "owners_of_the_site", 401: "anonymous", 403: "*"}
_HOOK = "/sites/{site}/webhooks/{webhook}"
WEBHOOKS = (
    Row("GET /sites/{site}/webhooks", OWNERS),
    Row(
        "POST /sites/{site}/webhooks",
        _NEW,
        body={"url": URL, "kinds": ["comment.created"]},
        made=worlds.room_for_a_webhook,
    ),
    Row(f"PATCH {_HOOK}", OWNERS, body={"state": "off"}, made=worlds.webhook),
    Row(f"DELETE {_HOOK}", _GONE, made=worlds.webhook),
    Row(f"POST {_HOOK}/secret", OWNERS, made=worlds.webhook),
    Row(f"POST {_HOOK}/trials", _SENT, made=worlds.webhook),
    Row(f"GET {_HOOK}/deliveries", OWNERS, made=worlds.webhook),
    Row(f"POST {_HOOK}/deliveries/{{delivery}}/replay", _SENT, made=worlds.delivery),
)
