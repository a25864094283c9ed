"""The documents of content in the database."""

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from chalicelib.database.validators import AtMost
from chalicelib.webhooks.rows import DueEvents

MAX_TAGS = 20
MAX_SUMMARY_CHARACTERS = 1_000
MAX_ASSETS = 100
MAX_FEED_ITEMS = 100
MAX_SLUG_CHARACTERS = 256


class Writer(TypedDict):
    """A writer, by id and name."""

    id: str
    name: str


class PageWords(TypedDict):
    """The words of a page; its type decides the fields of `detail`."""

    slug: str
    title: str
    summary: str | None
    tags: Annotated[list[str], AtMost(MAX_TAGS)]
    detail: dict[str, Any]


class PageDraft(PageWords):
    """The working copy of a page, for editors only; `assets` are the assets in it."""

    assets: Annotated[list[str], AtMost(MAX_ASSETS)]
    by: Writer | None
    at: datetime


class Edition(PageWords):
    """A version of a page as readers see it, from an instant on.

    `updated` is the `shown_from` of the last edition that was not `minor`. `terms_rules` is the
    number of the rules that selected its words for searches; editions of release 0.3.0 lack it.
    """

    assets: Annotated[list[str], AtMost(MAX_ASSETS)]
    html: str
    renderer: str
    version: int
    minor: bool
    shown_from: datetime
    updated: datetime
    terms_rules: NotRequired[int]


class Telling(TypedDict):
    """A pending update of a page's discussion; at `due` the schedule sends its message again."""

    key: str
    due: datetime
    resends: NotRequired[int]
    resent_by: NotRequired[str]


CommentsChoice = Literal["open", "off"]


class ContentNode(TypedDict):
    """A page, a post or a photo. A deleted page keeps its document, without content.

    `version` counts the edits of the draft. Readers see `live`; `next` replaces it at its instant.
    `published` is the date of the page in lists, or the future instant of its appearance; null:
    nothing is live. Beside a future `published`, `dated` is the date that readers will see; after
    the instant, the schedule moves it to `published`. `first_published` survives an unpublishing.
    `edition` rises with each change for readers. `is_closed`: the discussion has received the order
    to close. `told`: 1 if the discussion has the page's public time. `preview_key` is part of each
    preview's address. Until `count_due`, the numbers of tags count the page for `counted_tags`.
    `comments`: whether the page has a discussion, in place of its site's choice.
    Pages of release 0.3.0 lack `told`, `counted_tags` and `count_due`.
    """

    _id: str
    site: str
    type: str
    version: int
    created: datetime
    updated: datetime
    author: Writer | None
    draft: PageDraft | None
    live: Edition | None
    next: Edition | None
    published: datetime | None
    dated: NotRequired[datetime | None]
    first_published: datetime | None
    until: datetime | None
    edition: int
    discussion: str | None
    is_closed: bool
    preview_key: str
    removed: datetime | None
    telling: NotRequired[Telling]
    told: NotRequired[int]
    counted_tags: NotRequired[Annotated[list[str], AtMost(MAX_TAGS)]]
    count_due: NotRequired[datetime]
    due_events: NotRequired[DueEvents]
    comments: NotRequired[CommentsChoice]


class RevisionId(TypedDict):
    """A page, and the version of its draft."""

    node: str
    version: int


class Revision(PageWords):
    """A stored draft: the last of a person's successive saves within ten minutes from `begun`."""

    _id: RevisionId
    by: Writer | None
    at: datetime
    begun: datetime
    was_live: bool


class FormerHolder(TypedDict):
    """The page that had an address before, and since when."""

    node: str
    since: datetime


class PageAddress(TypedDict):
    """An address of a site, `site:slug`, and its page.

    `current`: the page has it now, or will have it. Otherwise it leads to the page's current
    address. Before `since` it leads to the page in `former`, or nowhere.
    """

    _id: str
    node: str
    current: bool
    since: datetime
    former: NotRequired[FormerHolder]


class RenderingFault(TypedDict):
    """The reason why a draft has no HTML."""

    code: str
    detail: str


class RenderedDraft(TypedDict):
    """The HTML of a page's draft for its previews: of one version, by one renderer.

    html: None: too large, or of a text with a fault.
    """

    _id: str
    version: int
    renderer: str
    html: str | None
    fault: NotRequired[RenderingFault]
    expires_at: datetime


class NewAddress(TypedDict):
    """The progress of a site's new `base_url`: pages with ids above `after` need an update.

    From `due` on, the schedule updates the discussions of the next pages.
    """

    after: str
    due: datetime


class ContentSite(TypedDict):
    """A site's settings; the ids in its feeds contain `feed_host`, which never changes."""

    _id: str
    title: str
    base_url: str
    language: str
    author: str
    comments: CommentsChoice
    feed_items: int
    feed_host: str
    version: int
    changed: datetime
    notifications: NotRequired[bool]
    new_address: NotRequired[NewAddress]
