"""The documents of content as they are stored."""

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from chalicelib.database.validators import AtMost

MAX_TAGS = 20
MAX_SUMMARY_CHARACTERS = 1_000
MAX_ASSETS = 100
MAX_FEED_ITEMS = 100


class Writer(TypedDict):
    """Who wrote something."""

    id: str
    name: str


class Words(TypedDict):
    """What a page says; its type decides what `detail` has."""

    slug: str
    title: str
    summary: str | None
    tags: Annotated[list[str], AtMost(MAX_TAGS)]
    detail: dict[str, Any]


class Draft(Words):
    """What an editor works on; readers never see it. `assets` are those that it names."""

    assets: Annotated[list[str], AtMost(MAX_ASSETS)]
    by: Writer | None
    at: datetime


class Edition(Words):
    """A version of a page as readers see it, from an instant on.

    `updated` is the last change that was not `minor`, its own `shown_from` for the others.
    """

    assets: Annotated[list[str], AtMost(MAX_ASSETS)]
    html: str
    renderer: str
    version: int
    minor: bool
    shown_from: datetime
    updated: datetime


class Telling(TypedDict):
    """A page's discussion has to be told of a change: when the message is sent again."""

    key: str
    due: datetime
    resends: NotRequired[int]
    resent_by: NotRequired[str]


class ContentNode(TypedDict):
    """A page, a post or a photo. A deleted one keeps its place, without content.

    `version` counts the edits of the draft. `live` is what readers see; `next` replaces it at
    its instant. `published` is the first instant of being shown, possibly one to come, and null
    while nothing is live; `first_published` outlives an unpublishing. `edition` rises with
    everything that changes what readers may see. `is_closed` says whether the discussion was told
    to close; `preview_key` is in every address of a preview.
    """

    _id: str
    site: str
    type: str
    version: int
    created: datetime
    updated: datetime
    author: Writer | None
    draft: Draft | None
    live: Edition | None
    next: Edition | None
    published: datetime | None
    first_published: datetime | None
    until: datetime | None
    edition: int
    discussion: str | None
    is_closed: bool
    preview_key: str
    removed: datetime | None
    telling: NotRequired[Telling]


class RevisionId(TypedDict):
    """A page, and the version of its draft."""

    node: str
    version: int


class Revision(Words):
    """What a draft was, after a person's saves of up to ten minutes; `begun` is the first."""

    _id: RevisionId
    by: Writer | None
    at: datetime
    begun: datetime
    was_live: bool


class Address(TypedDict):
    """An address of a site, `site:slug`, and the page that it leads to.

    It is `current` if the page has it now, or will have it; otherwise it leads to the page's
    present address. Before `since` it leads nowhere.
    """

    _id: str
    node: str
    current: bool
    since: datetime


class ContentSite(TypedDict):
    """A site's settings; the ids in its feeds begin with `feed_host`, which never changes."""

    _id: str
    title: str
    base_url: str
    language: str
    author: str
    comments: Literal["open", "off"]
    feed_items: int
    feed_host: str
    version: int
    changed: datetime
