"""Siblings in a tree: their order, their unique slugs, and the tree's count."""

from collections.abc import Sequence

from pymongo import ASCENDING, DESCENDING

from chalicelib.shop.categories.fence import Fenced
from chalicelib.shop.categories.rows import Category
from chalicelib.shop.errors import SlugTaken


def check_slug(fenced: Fenced, parent: str | None, slug: str, own: str) -> None:
    """Raise SlugTaken if a child of a parent has this slug; the category `own` may have it."""
    if any(each["_id"] != own for each in fenced.rows.find({"parent": parent, "slug": slug})):
        raise SlugTaken(slug)


def end(fenced: Fenced, parent: str | None) -> int:
    """Return the position after the last child of a parent. Parent None: the top."""
    where = {"site": fenced.rows.site, "parent": parent}
    rows = fenced.rows.collection.find(where, session=fenced.session)
    last = next(rows.sort("position", DESCENDING).limit(1), None)
    return last["position"] + 1 if last else 0


def place(fenced: Fenced, parent: str | None, wanted: int | None, own: str) -> int:
    """Make room for the category `own` among the children of a parent; return its position.

    `wanted`: the number of other siblings before it. None, or more than there are: the end.
    """
    if wanted is None:
        return end(fenced, parent)
    where = {"site": fenced.rows.site, "parent": parent, "_id": {"$ne": own}}
    rows = fenced.rows.collection.find(where, session=fenced.session)
    pushed = next(rows.sort("position", ASCENDING).skip(wanted).limit(1), None)
    if pushed is None:
        return end(fenced, parent)
    later = {"parent": parent, "position": {"$gte": pushed["position"]}}
    fenced.rows.update(later, {"$inc": {"position": 1}})
    return pushed["position"]


def adopt(fenced: Fenced, removed: Category, children: Sequence[Category]) -> None:
    """Move a category's children to the end of its siblings, in sequence; raises SlugTaken."""
    slugs = {"$in": [each["slug"] for each in children]}
    for other in fenced.rows.find({"parent": removed["parent"], "slug": slugs}):
        if other["_id"] != removed["_id"]:
            raise SlugTaken(other["slug"])
    shift = end(fenced, removed["parent"])
    change = {"$set": {"parent": removed["parent"]}, "$inc": {"position": shift}}
    fenced.rows.update({"parent": removed["_id"]}, change)


def count(fenced: Fenced, change: int) -> None:
    """Add `change`, which may be negative, to a tree's count of categories."""
    where = {"_id": fenced.tree["_id"]}
    fenced.trees.update_one(where, {"$inc": {"count": change}}, session=fenced.session)
