"""Fenced changes of a tree: add, rename, move and remove categories."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.shop.categories import siblings
from chalicelib.shop.categories.fence import Fenced, change_fenced
from chalicelib.shop.categories.forms import MAX_CATEGORIES, Move, NewCategory
from chalicelib.shop.categories.messages import JOBS, Relist
from chalicelib.shop.categories.rows import MAX_DEPTH, Category
from chalicelib.shop.errors import (
    CategoryCycle,
    CategoryNotEmpty,
    CategoryTooDeep,
    TooManyCategories,
    UnknownCategory,
)
from chalicelib.shop.ids import key_of


@dataclass(frozen=True)
class ChangedCategory:
    """A category after its change."""

    category: Category
    is_new: bool = False


def put(runtime: Runtime, site: str, category_id: str, new: NewCategory) -> ChangedCategory:
    """Add a category as the last below its parent, or replace its name, slug and parent.

    Raises UnknownShop, UnknownCategory for the parent, SlugTaken, CategoryTooDeep, CategoryCycle
    and TooManyCategories.
    """
    key, relist = key_of(site, category_id), Relist(site=site, category=category_id)

    def change(fenced: Fenced) -> tuple[ChangedCategory, bool]:
        before = _find(fenced, key)
        if before is None:
            return ChangedCategory(_add(fenced, key, new), is_new=True), False
        stays = before["parent"] == (key_of(site, new.parent) if new.parent else None)
        if stays:
            siblings.check_slug(fenced, before["parent"], new.slug, key)
        after = _rename(fenced, before, new)
        if stays:
            return ChangedCategory(after), False
        moved = _move(fenced, after, Move(parent=new.parent))
        outbox.note(runtime, relist, fenced.session, jobs=JOBS)
        return ChangedCategory(moved), True

    changed, has_moved = change_fenced(runtime.database, site, change)
    if has_moved:
        runtime.queues.send(relist)
    return changed


def move(runtime: Runtime, site: str, category_id: str, where: Move) -> Category:
    """Move a category with all below it.

    Raises UnknownShop, UnknownCategory, CategoryCycle, CategoryTooDeep and SlugTaken.
    """
    relist = Relist(site=site, category=category_id)

    def change(fenced: Fenced) -> tuple[Category, bool]:
        before = _get(fenced, key_of(site, category_id))
        after = _move(fenced, before, where)
        if after["parent"] == before["parent"]:
            return after, False
        outbox.note(runtime, relist, fenced.session, jobs=JOBS)
        return after, True

    moved, is_elsewhere = change_fenced(runtime.database, site, change)
    if is_elsewhere:
        runtime.queues.send(relist)
    return moved


def remove(runtime: Runtime, site: str, category_id: str, *, lifts: bool) -> None:
    """Remove a category. `lifts`: its children move up to its parent.

    Raises UnknownShop, UnknownCategory, CategoryNotEmpty and SlugTaken.
    """
    relist = Relist(site=site, category=category_id)
    note = partial(outbox.note, runtime, relist, jobs=JOBS)

    def change(fenced: Fenced) -> None:
        category = _get(fenced, key_of(site, category_id))
        children = fenced.rows.find({"parent": category["_id"]})
        if children and not lifts:
            raise CategoryNotEmpty
        if children:
            fenced.store.lift(fenced.rows, category)
            siblings.adopt(fenced, category, children)
        fenced.rows.collection.delete_one(
            {"_id": category["_id"], "site": site}, session=fenced.session
        )
        siblings.count(fenced, -1)
        note(fenced.session)

    change_fenced(runtime.database, site, change)
    runtime.queues.send(relist)


def _find(fenced: Fenced, key: str) -> Category | None:
    return next(iter(fenced.rows.find({"_id": key})), None)


def _get(fenced: Fenced, key: str) -> Category:
    found = _find(fenced, key)
    if found is None:
        raise UnknownCategory
    return found


def _parent(fenced: Fenced, parent_id: str | None) -> Category | None:
    return _get(fenced, key_of(fenced.rows.site, parent_id)) if parent_id else None


def _add(fenced: Fenced, key: str, new: NewCategory) -> Category:
    parent = _parent(fenced, new.parent)
    depth = parent["depth"] + 1 if parent else 1
    if depth > MAX_DEPTH:
        raise CategoryTooDeep
    if fenced.tree["count"] >= MAX_CATEGORIES:
        raise TooManyCategories
    above = parent["_id"] if parent else None
    siblings.check_slug(fenced, above, new.slug, key)
    row: Any = {
        "_id": key,
        "site": fenced.rows.site,
        "name": new.name,
        "slug": new.slug,
        "parent": above,
        "position": siblings.end(fenced, above),
        "depth": depth,
        **fenced.store.place_fields(key, parent),
    }
    category: Category = row
    fenced.rows.collection.insert_one(category, session=fenced.session)
    siblings.count(fenced, 1)
    return category


def _rename(fenced: Fenced, before: Category, new: NewCategory) -> Category:
    """Rename a category; the caller checks its slug at its final place."""
    after: Category = {**before, "name": new.name, "slug": new.slug}
    if after == before:
        return before
    change = {"name": new.name, "slug": new.slug}
    fenced.rows.update({"_id": before["_id"]}, {"$set": change})
    fenced.store.follow(fenced.rows, before, after)
    return after


def _move(fenced: Fenced, before: Category, where: Move) -> Category:
    """Move a category with all below it."""
    parent = _parent(fenced, where.parent)
    _check_place(fenced, before, parent)
    above = parent["_id"] if parent else None
    siblings.check_slug(fenced, above, before["slug"], before["_id"])
    change = {
        "parent": above,
        "depth": parent["depth"] + 1 if parent else 1,
        "position": siblings.place(fenced, above, where.position, before["_id"]),
        **fenced.store.place_fields(before["_id"], parent),
    }
    moved: Any = {**before, **change}
    after: Category = moved
    fenced.rows.update({"_id": before["_id"]}, {"$set": change})
    if above != before["parent"]:
        fenced.store.follow(fenced.rows, before, after)
    return after


def _check_place(fenced: Fenced, moved: Category, parent: Category | None) -> None:
    """Raise CategoryCycle if the parent is the category or below it; raise CategoryTooDeep."""
    if parent is None:
        return
    above = fenced.store.above(fenced.rows, [parent["_id"]])[parent["_id"]]
    if moved["_id"] in {parent["_id"], *above}:
        raise CategoryCycle
    below = fenced.store.below(fenced.rows, moved, MAX_DEPTH)
    deepest = fenced.rows.deepest(below) or moved["depth"]
    if deepest - moved["depth"] + parent["depth"] + 1 > MAX_DEPTH:
        raise CategoryTooDeep
