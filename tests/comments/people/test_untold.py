"""A shadowed person, and the author of spam, read with their token what anybody would read.

The same calls are driven as an ordinary and as a concealed person, at sites of their own, and all
answers are compared but for ids and times. Each declared operation is driven, or a reason says why
it cannot tell of concealment.
"""

import difflib
import json
import re
from typing import Any, get_args

import orjson
import pytest

from chalicelib.comments.shapes import PageOrder
from chalicelib.people import jobs
from chalicelib.runtime import Runtime
from chalicelib.wiring.people import PEOPLE
from deploy.openapi.files import KEPT
from tests.comments.support.discussion import LAYOUTS, Layout
from tests.push.support.browser import BrowserStandIn
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

HEART = "\N{HEAVY BLACK HEART}"
SETTINGS = {
    "votes": "up_down",
    "reactions": [{"key": "heart", "emoji": HEART}],
    "search": True,
    "notifications": True,
}
PUSH = {
    "endpoint": "https://updates.push.services.mozilla.com/wpush/v2/gAAAAA",
    "keys": BrowserStandIn("").keys,
}
BOUND = ("nodes/", "sites/")
# Operations that a reader may not call, or whose answers are the same for all callers.
STAFF = "only staff of the site may call it"
UNDRIVEN = {
    "putNode": STAFF,
    "deleteNode": STAFF,
    "erasePerson": STAFF,
    "relocateNode": STAFF,
    "moveToStore": STAFF,
    "listFlags": STAFF,
    "getCommentSettings": STAFF,
    "putCommentSettings": STAFF,
    "changeCommentSettings": STAFF,
    "beginBatch": STAFF,
    "readBatch": STAFF,
    "undoBatch": STAFF,
    "beginImport": STAFF,
    "putImportPart": STAFF,
    "startImport": STAFF,
    "applyImport": STAFF,
    "stopImport": STAFF,
    "listImports": STAFF,
    "getImport": STAFF,
    "beginExport": STAFF,
    "listExports": STAFF,
    "getExport": STAFF,
    "getExportPiece": STAFF,
    "listPendingComments": STAFF,
    "listModerationActs": STAFF,
    "undoModerationAct": STAFF,
    "claimComment": STAFF,
    "releaseComment": STAFF,
    "featureComment": STAFF,
    "unfeatureComment": STAFF,
    "pinComment": STAFF,
    "unpinComment": STAFF,
    "setCommentState": STAFF,
    "changePerson": STAFF,
    "beginGuest": "it has no caller",
    "showConfirmation": "it has no caller",
    "confirmAddress": "it has no caller",
    "showMailConfirmation": "it has no caller",
    "confirmMail": "it has no caller",
    "showMailStop": "it has no caller",
    "stopMail": "it has no caller",
    "sendSignIn": "it has no caller",
    "exchangeCode": "it has no caller",
    "exchangeAccountCode": "it has no caller",
    "findPast": "it names people of before, and nothing of the caller",
    "joinPast": "it names people of before, and nothing of the caller",
    "beginSignIn": "it has no caller",
    "finishSignIn": "it has no caller",
    "listProviders": STAFF,
    "putProvider": STAFF,
    "deleteProvider": STAFF,
    "getFeedOfSite": "it has no caller",
    "getSitemap": "it has no caller",
    "listDiscussions": "it has no caller",
    "getFeedOfPerson": "it has no caller",
    "getFeedOfNode": "it has no caller",
    "getFeedOfThread": "it has no caller",
    "eraseMe": "it deletes all; `test_an_erasure_tells_no_act_of_moderators` has its number",
}
# Other features read no comment of a site, and nothing of its people. But for two: the activity
# feed has a comparison of its own, in `tests/social/activity/actions/test_concealed.py`, and a page
# of content counts its comments for all callers alike, so a token changes nothing there.
APART = {
    *("Operation", "Money", "Ads", "Assets", "Shop", "Content", "Analytics", "Caller", "Reports"),
    *("Sites", "Social", "Feed", "Webhooks"),
}


class Drive:
    """A person's calls at a site of their own, and their answers without ids."""

    def __init__(self, runtime: Runtime, client: Client, name: str, layout: Layout) -> None:
        self.site, self.user = f"site-{name}", f"user-{name}"
        self.node = f"/nodes/{self.site}:moon"
        self.comments = f"{self.node}/comments"
        assert isinstance(runtime.now, Clock)
        self.layout, self.clock = layout, runtime.now
        self.me = client.as_(self.user, name="Pat", picture="https://img.example/pat.png")
        self.staff = client.as_("paula", roles=["publisher"], sites=[self.site])
        self.answers: list[tuple[str, int, str]] = []
        self.called: set[str] = set()
        self._ids: dict[str, str] = {self.site: "SITE", self.user: "USER"}
        page = {"title": "Moon", "url": "https://blog.example/moon"}
        made = self.staff.put(self.node, **page, store=layout.store, threaded=layout.threaded)
        assert made.status == 201, made.body
        assert self.staff.put(f"/sites/{self.site}/comments/settings", **SETTINGS).status == 200
        self.others = [self.post(client.as_("ann"), f"hello {n}") for n in range(3)]

    def post(self, client: Client, text: str, **body: Any) -> str:
        """Post a comment that is in no comparison."""
        self.clock.advance(seconds=20)
        reply = client.post(self.comments, text=text, **body)
        assert reply.status == 201, reply.body
        return self.know(reply.json["id"])

    def know(self, id_: str) -> str:
        self._ids.setdefault(id_, f"ID{len(self._ids)}")
        return id_

    def call(self, operation: str, method: str, path: str, **body: Any) -> Reply:
        """Make a call as the person, and keep the answer."""
        headers = body.pop("headers", {})
        if body:
            headers = {**headers, "Content-Type": "application/json"}
        data = orjson.dumps(body) if body else b""
        if method != "GET":
            # Of two comments of one instant, the first is a matter of their ids.
            self.clock.advance(seconds=20)
        reply = self.me.request(method, path, body=data, headers=headers)
        if method == "POST" and reply.status == 201 and "id" in reply.json:
            self.know(reply.json["id"])
        self._know_versions(reply)
        self.called.add(operation)
        self.answers.append((self._plain(f"{method} {path}"), reply.status, self._shown(reply)))
        return reply

    def _know_versions(self, reply: Reply) -> None:
        """Count the versions in an answer, so that the same change has the same number."""
        if "json" in reply.headers.get("Content-Type", "") and isinstance(reply.json, dict):
            told = [reply.json.get("version"), *reply.json.get("versions", {}).values()]
            for version in filter(None, told):
                self.know(version)

    def _shown(self, reply: Reply) -> str:
        kept = {
            name: value
            for name, value in reply.headers.items()
            if name.lower() not in {"etag", "x-request-id"}
        }
        body = self._plain(reply.body.decode())
        if "json" in reply.headers.get("Content-Type", ""):
            body = json.dumps(_by_known_order(json.loads(body)), sort_keys=True)
        return f"{self._plain(json.dumps(kept, sort_keys=True))}\n{body}"

    def _plain(self, text: str) -> str:
        for id_, name in self._ids.items():
            text = text.replace(id_, name)
        text = re.sub(r'"(next|previous|cursor)":"[^"]*"', r'"\1":"CURSOR"', text)
        text = re.sub(r"cursor=[\w.~-]+", "cursor=CURSOR", text)
        text = re.sub(r"\d\d:\d\d UTC", "TIME", text)
        return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "TIME", text)

    def read(self, *own: str) -> None:
        """Read all that a reader may read, in every order, page by page."""
        for order in get_args(PageOrder):
            for limit in (2, 100):
                query = f"order={order}&limit={limit}"
                page = self.call("listComments", "GET", f"{self.comments}?{query}")
                while page.json["next"]:
                    path = f"{self.comments}?{query}&cursor={page.json['next']}"
                    page = self.call("listComments", "GET", path)
        html = {"Accept": "text/html"}
        self.call("listComments", "GET", self.comments, headers=html)
        self.call("getNode", "GET", self.node)
        address = f"/nodes?site={self.site}&url=https://blog.example/moon"
        self.call("findNode", "GET", address)
        self.call("countComments", "GET", f"/comment-counts?nodes={self.site}:moon")
        topics = f"inbox,news,node:{self.site}:moon"
        self.call("getChanges", "GET", f"/changes?topics={topics}")
        ids = (*self.others, *own)
        self.call("getMarks", "GET", f"{self.node}/marks?ids={','.join(ids)}")
        for each in ids:
            self.call("listComments", "GET", f"{self.comments}?around={each}")
            self.call("getComment", "GET", f"{self.comments}/{each}")
            self.call("listThread", "GET", f"{self.comments}/{each}/thread")
            path = f"{self.comments}/{each}/reactions/heart"
            self.call("listCommentReactions", "GET", path)
        self.call("findMembers", "GET", f"{self.node}/people?q=pa")
        person = f"/sites/{self.site}/people/{self.user}"
        self.call("getPerson", "GET", person)
        # The picture of the token: the colour of a drawing is a matter of ids.
        image = {"Sec-Fetch-Dest": "image"}
        self.call("getAvatar", "GET", f"{person}/avatar", headers=image)
        self.call("listCommentsOfPerson", "GET", f"{person}/comments?limit=2")
        self.call("listCommentsOfPerson", "GET", f"/sites/{self.site}/people/ann/comments")
        for limit in (2, 50):
            path = f"/sites/{self.site}/comments?limit={limit}"
            self.call("listCommentsOfSite", "GET", path)
        for words in ("hello", "mine", "more pat", "hello pat"):
            search = f"/sites/{self.site}/search?q={words.replace(' ', '+')}"
            self.call("searchComments", "GET", f"{search}&limit=2")
        self.call("listBlocked", "GET", f"/sites/{self.site}/blocked")
        self.call("exportMe", "GET", "/users/me/export")


def write(drive: Drive, **first: Any) -> None:
    """Do all that a reader may do, and read after each act."""
    other = drive.others[0]
    reply = {"parent": other} if drive.layout.threaded else {}
    own = drive.call("postComment", "POST", drive.comments, text="mine", **first).json["id"]
    drive.read(own)
    text = "hello to @Pat"
    body = {"text": text, "mentions": [drive.user]}
    drive.call("previewComment", "POST", "/preview", node=f"{drive.site}:moon", **body)
    second = drive.call("postComment", "POST", drive.comments, **body, **reply).json["id"]
    deeper = {"parent": own} if drive.layout.threaded else {}
    third = drive.call("postComment", "POST", drive.comments, text="more", **deeper).json["id"]
    drive.read(own, second, third)
    drive.call("editComment", "PATCH", f"{drive.comments}/{own}", text="mine indeed")
    drive.call("openPage", "POST", f"{drive.node}/visit", url="https://blog.example/x", title="x")
    mark(drive, own)
    drive.read(own, second, third)
    quick = drive.call(
        "postComment", "POST", drive.comments, text="at once", written_ms=100, **deeper
    ).json["id"]
    for deleted in (third, own, quick):
        drive.call("deleteComment", "DELETE", f"{drive.comments}/{deleted}")
        drive.read(second, quick)
        drive.call("getComment", "GET", f"{drive.comments}/{deleted}")
        drive.call("deleteComment", "DELETE", f"{drive.comments}/{deleted}")


def mark(drive: Drive, own: str) -> None:
    """Vote, react, flag and block."""
    last = drive.others[-1]
    drive.call("voteOnComment", "PUT", f"{drive.comments}/{last}/vote", value=1)
    drive.call("voteOnComment", "PUT", f"{drive.comments}/{drive.others[0]}/vote", value=-1)
    drive.call("voteOnComment", "PUT", f"{drive.comments}/{own}/vote", value=1)
    for path in (f"{drive.comments}/{last}", f"{drive.comments}/{own}", drive.node):
        operation = "reactToNode" if path == drive.node else "reactToComment"
        drive.call(operation, "PUT", f"{path}/reactions/heart")
    drive.read(own)
    drive.call("withdrawNodeReaction", "DELETE", f"{drive.node}/reactions/heart")
    path = f"{drive.comments}/{own}/reactions/heart"
    drive.call("withdrawCommentReaction", "DELETE", path)
    drive.call("flagComment", "PUT", f"{drive.comments}/{last}/flag", reason="spam")
    drive.call("flagComment", "PUT", f"{drive.comments}/{own}/flag", reason="spam")
    drive.call("withdrawFlag", "DELETE", f"{drive.comments}/{last}/flag")
    for path, of in ((drive.node, ""), (f"{drive.comments}/{own}", "Thread")):
        drive.call(f"put{of}Watch", "PUT", f"{path}/watch", level="watching")
        drive.call("listWatches", "GET", "/watches")
        drive.call(f"delete{of}Watch", "DELETE", f"{path}/watch")
    drive.call("getWatch", "GET", f"{drive.node}/watch")
    drive.call("blockPerson", "PUT", f"/sites/{drive.site}/blocked/ann")
    drive.call("listBlocked", "GET", f"/sites/{drive.site}/blocked")
    drive.call("listMyBlocks", "GET", "/users/me/blocked")
    drive.call("unblockPerson", "DELETE", f"/sites/{drive.site}/blocked/ann")
    drive.call("getMyErasure", "GET", "/users/me/erasure")
    drive.call("listNotifications", "GET", "/notifications")
    now = drive.clock().isoformat()
    drive.call("markNotificationsSeen", "PUT", "/notifications/seen", until=now)
    drive.call("markNotificationsRead", "PUT", "/notifications/read", until=now)
    drive.call("getNotificationMail", "GET", "/notifications/mail")
    drive.call("putNotificationMail", "PUT", "/notifications/mail", every="off", hour=9)
    drive.call("getNotificationPreferences", "GET", "/notifications/preferences")
    drive.call("listPushBrowsers", "GET", "/notifications/push/browsers")
    drive.call("putPushBrowser", "PUT", "/notifications/push", **PUSH)
    drive.call("deletePushBrowser", "DELETE", f"/notifications/push/browsers/{'A' * 43}")
    drive.call("getPushKey", "GET", "/notifications/push/key")
    chosen = {"follow": {"in_app": False}}
    drive.call("putNotificationPreferences", "PUT", "/notifications/preferences", kinds=chosen)


def differences(one: Drive, other: Drive) -> str:
    """Return the calls whose answers differ, with the parts that do."""
    pairs = enumerate(zip(one.answers, other.answers, strict=True))
    return "\n".join(
        f"{number} {mine[0]} {mine[1]} {its[1]}: {' '.join(_parts(mine[2], its[2]))}"
        for number, (mine, its) in pairs
        if mine != its
    )


def _parts(one: str, other: str) -> list[str]:
    before, after = (re.split(r"(?<=[,{\n<])", each) for each in (one, other))
    return [each.strip() for each in difflib.ndiff(before, after) if each[0] in "+-"]


def _by_known_order(body: Any) -> Any:
    """Return an answer with an export's entries sorted: their order is that of random ids."""
    if "entries" in body:
        return {**body, "entries": sorted(body["entries"], key=json.dumps)}
    return body


def test_a_shadowed_person_reads_what_an_ordinary_person_reads(
    runtime: Runtime, client: Client, layout: Layout
) -> None:
    ordinary, shadowed = (Drive(runtime, client, name, layout) for name in ("one", "two"))
    person = f"/sites/{shadowed.site}/people/{shadowed.user}"
    assert shadowed.staff.patch(person, status="shadowed", note="Again").status == 200

    for each in (ordinary, shadowed):
        write(each)

    assert differences(shadowed, ordinary) == ""
    # They are concealed indeed.
    counted = f"/comment-counts?nodes={ordinary.site}:moon,{shadowed.site}:moon"
    assert sorted(client.get(counted).json.values()) == [3, 4]


def test_an_author_of_spam_reads_what_an_author_reads_who_waits(
    runtime: Runtime, client: Client, layout: Layout
) -> None:
    waiting, spam = (Drive(runtime, client, name, layout) for name in ("one", "two"))
    phrases = [{"phrase": "mine", "action": "hold"}]
    held = waiting.staff.put(
        f"/sites/{waiting.site}/comments/settings", **SETTINGS, phrases=phrases
    )
    assert held.status == 200, held.body

    write(waiting)
    write(spam, website="https://spam.example")

    assert differences(spam, waiting) == ""


def test_an_erasure_tells_no_act_of_moderators(
    runtime: Runtime, client: Client, workers: Workers
) -> None:
    ann, mo = client.as_("ann"), client.as_("mo", roles=["moderator"])
    mo.put("/nodes/blog:moon", title="Moon", url="https://blog.example/moon")
    comment = ann.post("/nodes/blog:moon/comments", text="mine").json["id"]
    before = ann.get("/users/me/erasure").json["remaining"]

    for status in ("shadowed", "ok", "banned"):
        mo.patch("/sites/blog/people/ann", status=status, note=status)
    mo.post(f"/nodes/blog:moon/comments/{comment}/state", state="spam")
    client.as_("ben").put("/sites/blog/blocked/ann")

    assert ann.get("/users/me/erasure").json["remaining"] == before
    # One more: the erasure that has begun.
    assert ann.delete("/users/me").json["remaining"] == before + 1
    workers.drain()
    assert ann.get("/users/me/erasure").json["remaining"] == 0
    assert jobs.count_remaining(runtime.database, PEOPLE, "ann") == 0


@pytest.mark.parametrize("state", ["hidden", "spam"])
def test_an_export_does_not_say_how_a_moderator_hides(client: Client, state: str) -> None:
    ann, mo = client.as_("ann"), client.as_("mo", roles=["moderator"])
    mo.put("/nodes/blog:moon", title="Moon", url="https://blog.example/moon")
    comment = ann.post("/nodes/blog:moon/comments", text="mine").json["id"]

    mo.post(f"/nodes/blog:moon/comments/{comment}/state", state=state)

    entries = ann.get("/users/me/export").json["entries"]
    assert [each["data"]["state"] for each in entries if each["kind"] == "comment"] == ["hidden"]


def test_every_operation_is_compared_or_cannot_tell(runtime: Runtime, client: Client) -> None:
    drive = Drive(runtime, client, "one", LAYOUTS[0])
    write(drive)

    document = json.loads(KEPT.read_text())
    declared = {
        operation["operationId"]: operation["tags"][0]
        for path in document["paths"].values()
        for operation in path.values()
    }
    concerned = {name for name, tag in declared.items() if tag not in APART}
    assert concerned - UNDRIVEN.keys() == drive.called
    assert UNDRIVEN.keys() <= concerned
