"""Causes of notifications in the social feed: followers, posts, and acts on posts.

A worker makes stored notifications agree with the acts. Each page checks permissions again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import quote

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.marks import reading
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.groups import group_of
from chalicelib.notifications.inbox import TEXT_CHARACTERS, ShownThing
from chalicelib.notifications.rows import Kind, NotificationItem
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from chalicelib.social.activity.org import people
from chalicelib.social.graph import following, users, watches
from chalicelib.social.graph.audience import Reader
from chalicelib.social.messages import NotifyFeed
from chalicelib.social.posts import audiences, comments, posts
from chalicelib.social.posts.forms import AT_POST
from chalicelib.social.posts.reactions import KIND
from chalicelib.social.posts.shapes import ReadPost
from chalicelib.social.posts.visibility import may_see
from chalicelib.social.telling import keys_of

_PEOPLE_AT_ONCE = 1_000


def agree(runtime: Runtime, act: NotifyFeed) -> None:
    """Make the notifications of an act agree with the stored act; a repeat changes nothing.

    `follow` also ends the watches by `act.by` of authors whom `act.by` no longer follows.
    """
    read_at = runtime.now()
    if act.kind == "follow":
        _correct_follows(runtime, act.by)
        watches.end_without_tie(runtime.database, act.by)
        return
    post_id, _, comment_id = act.thing.partition("/")
    name = {"post.comment": comment_id, "post.reaction": act.by, "post.wall": ""}[act.kind]
    key = f"{keys_of(post_id)}{act.kind}/{name}"
    post = posts.find_all(runtime.database, [post_id]).get(post_id)
    if post is None:
        events.withdraw(runtime, key)
        return
    who = post["wall"] if act.kind == "post.wall" else post["by"]["id"]
    at = _time_of(runtime, act, post)
    recipients: dict[str, Kind] = {}
    if at is not None and who != act.by and _may_tell(runtime, who, act.by, [post]):
        recipients = {who: act.kind}
    at = at or read_at
    group = None if act.kind == "post.wall" else group_of(act.kind, post_id, at)
    event = NotificationEvent(
        key=key,
        site=DEFAULT_SITE,
        thing=act.thing,
        by=act.by,
        at=at,
        recipients=recipients,
        is_new=False,
        group=group,
        among=(who,),
    )
    events.agree(runtime, event, read_at)


def _time_of(runtime: Runtime, act: NotifyFeed, post: ReadPost) -> datetime | None:
    """Return the time of an act on a post. None: no such act, or no longer."""
    database, post_id = runtime.database, post["id"]
    if act.kind == "post.reaction":
        return reading.find_reactions(database, KIND, [(post_id, act.by)]).get((post_id, act.by))
    if act.kind == "post.comment":
        named = (post_id, act.thing.partition("/")[2])
        found = comments.find_named(database, [named]).get(named)
        return found["ts"] if found else None
    return None if post.get("off_wall") else post["ts"]


def agree_follow(runtime: Runtime, owner_id: str, member_id: str) -> None:
    """Notify a member that an owner of circles follows the member.

    Does nothing if the owner no longer follows the member, if the member mutes the owner, or if
    one blocks the other.
    """
    if not runtime.settings.social_notifications:
        return
    read_at = runtime.now()
    ties = following.reader(runtime.database, member_id, [owner_id])
    if ties.circled_by.get(owner_id) and _may_tell(runtime, member_id, owner_id, []):
        event = _follow(runtime, owner_id, (member_id,), {member_id: "follow"})
        events.agree(runtime, event, read_at)


def _correct_follows(runtime: Runtime, owner_id: str) -> None:
    """Withdraw the notifications of people whom a person no longer follows; restore the others."""
    after = ""
    while told := events.find_people(runtime, f"follow/{owner_id}", after, _PEOPLE_AT_ONCE):
        # Read again in each step: the steps may take long.
        followed = set(following.following(runtime.database, owner_id))
        kept: dict[str, Kind] = {who: "follow" for who in told if who in followed}
        events.correct(runtime, _follow(runtime, owner_id, tuple(told), kept))
        after = told[-1]


def _follow(
    runtime: Runtime, owner_id: str, among: tuple[str, ...], recipients: Mapping[str, Kind]
) -> NotificationEvent:
    at = runtime.now()
    return NotificationEvent(
        key=f"follow/{owner_id}",
        site=DEFAULT_SITE,
        thing=owner_id,
        by=owner_id,
        at=at,
        recipients=recipients,
        is_new=False,
        group=group_of("follow", "", at),
        among=among,
    )


def _may_tell(runtime: Runtime, who: str, by: str, about: Sequence[ReadPost]) -> bool:
    """Return whether an act of `by` may notify `who`.

    False if either blocks the other, if `who` mutes `by`, or if `who` may not see a post.
    """
    reader = _reader(runtime.database, who, {by}, about)
    if by in reader.blocked or by in people.find(runtime.database, who)["muted"]:
        return False
    return all(may_see(reader, post) for post in about)


def _reader(
    database: Database[Document], who: str, others: set[str], about: Sequence[ReadPost]
) -> Reader:
    """Return a reader's relations to people and to the authors of posts, with `kept`."""
    reader = following.reader(database, who, others | {post["by"]["id"] for post in about})
    fixed = [post["id"] for post in about if post["audience"] == AT_POST]
    return replace(reader, kept=audiences.kept_for(database, who, fixed))


def show(
    runtime: Runtime, reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Return, by item id, the acts that a reader may see now.

    Omits deleted and hidden acts, and acts of blocked or muted people.
    """
    if not items:
        return {}
    database, actors = runtime.database, {each["by"] for each in items}
    wanted = {_post_of(each) for each in items if each["kind"] != "follow"}
    found = posts.find_all(database, wanted) if wanted else {}
    ties = _reader(database, reader.id, actors, list(found.values()))
    muted = set(people.find(database, reader.id)["muted"])
    acts = _Acts(database, ties, found, items)
    names = users.names_of(database, actors - ties.blocked - muted)
    shown: dict[str, ShownThing] = {}
    for item in items:
        text = acts.text_of(item) if item["by"] in names else None
        if text is not None:
            page_id, link = _page_of(runtime, item)
            name = names[item["by"]]
            shown[item["_id"]] = ShownThing(name, text[:TEXT_CHARACTERS], page_id, "", "", link)
    return shown


def _page_of(runtime: Runtime, item: NotificationItem) -> tuple[str, str]:
    """Return the id of the person or post of a notification, and the address of its page."""
    page, name, id_ = runtime.settings.post_page, "{post}", _post_of(item)
    if item["kind"] == "follow":
        page, name, id_ = runtime.settings.person_page, "{user}", item["by"]
    return id_, page.replace(name, quote(id_, safe=""))


def _post_of(item: NotificationItem) -> str:
    return item["thing"].partition("/")[0]


class _Acts:
    """The acts of some notifications as they are stored now, for one reader."""

    def __init__(
        self,
        database: Database[Document],
        reader: Reader,
        found: Mapping[str, ReadPost],
        items: Sequence[NotificationItem],
    ) -> None:
        self._reader = reader
        self._posts = {id_: post for id_, post in found.items() if may_see(reader, post)}
        named = [_named(each) for each in items if each["kind"] == "post.comment"]
        self._comments = comments.find_named(database, named)
        given = [(_post_of(each), each["by"]) for each in items if each["kind"] == "post.reaction"]
        self._reacted = reading.find_reactions(database, KIND, given)

    def text_of(self, item: NotificationItem) -> str | None:
        """Return the text to show for an act, or an empty text. None: the act is gone or hidden."""
        if item["kind"] == "follow":
            return "" if self._reader.circled_by.get(item["by"]) else None
        post = self._posts.get(_post_of(item))
        if post is None:
            return None
        if item["kind"] == "post.comment":
            comment = self._comments.get(_named(item))
            return comment["text"] if comment else None
        if item["kind"] == "post.reaction":
            is_there = (post["id"], item["by"]) in self._reacted
        elif item["kind"] == "post.new":
            is_there = True
        else:
            is_there = not post.get("off_wall") and post["wall"] == self._reader.id
        return _text_of(post) if is_there else None


def _named(item: NotificationItem) -> tuple[str, str]:
    post_id, _, comment_id = item["thing"].partition("/")
    return post_id, comment_id


def _text_of(post: ReadPost) -> str:
    """Return the text of a post: its `text`, else its question, title or place, else nothing."""
    given = (post["detail"].get(name) for name in ("text", "question", "title", "place"))
    return next((each for each in given if isinstance(each, str)), "")
