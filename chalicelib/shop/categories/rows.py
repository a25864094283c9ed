"""The collections of categories and trees."""

from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.shop.errors import UnknownCategory
from chalicelib.shop.ids import key_of

MAX_DEPTH = 12

StoreName = Literal["ancestors", "paths", "parents"]


class Ancestor(TypedDict):
    """A category above another, with the fields of a breadcrumb."""

    _id: str
    name: str
    slug: str


class Category(TypedDict):
    """A category; `_id` and `parent` are `site:category`. At the top, `parent` is None, `depth` 1.

    `position` orders siblings and may have gaps. Only the store `ancestors` writes `ancestors`
    (root first). Only the store `paths` writes `path`: ids without the site, joined by `/`, the
    category's own last.
    """

    _id: str
    site: str
    name: str
    slug: str
    parent: str | None
    position: int
    depth: int
    ancestors: NotRequired[Annotated[list[Ancestor], AtMost(MAX_DEPTH - 1)]]
    path: NotRequired[str]


class Tree(TypedDict):
    """A shop's tree: its store, its number of categories, and its version.

    Every change first raises `version`.
    """

    _id: str
    version: int
    store: StoreName
    count: int


_SIBLINGS = (("site", ASCENDING), ("parent", ASCENDING))
CATEGORIES = Collection(
    "shop.category",
    Category,
    indexes=(
        IndexModel([*_SIBLINGS, ("position", ASCENDING)]),
        # Not unique: a unique index would have to begin with the whole shard key. The tree's fence
        # prevents a second use of a slug.
        IndexModel([*_SIBLINGS, ("slug", ASCENDING)]),
        IndexModel("ancestors._id", sparse=True),
        IndexModel([("site", ASCENDING), ("path", ASCENDING)]),
    ),
    shard_key={"site": 1, "_id": 1},
)
TREES = Collection("shop.tree", Tree)


def find(
    database: Database[Document], site: str, category_id: str, session: ClientSession | None = None
) -> Category:
    """Return a category of a shop; raises UnknownCategory."""
    where = {"_id": key_of(site, category_id), "site": site}
    found = CATEGORIES.of(database).find_one(where, session=session)
    if found is None:
        raise UnknownCategory
    return found
