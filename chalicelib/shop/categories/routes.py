"""Categories in the API: the publisher of a shop changes its categories, everyone reads them."""

import orjson

from chalicelib import __version__, signing
from chalicelib.http import Created, NoContent, NotModified, Ok, Request, Route, conditional
from chalicelib.http.callers import Publisher
from chalicelib.http.paging import page_of
from chalicelib.limits import INVENTORY
from chalicelib.runtime import Runtime
from chalicelib.shop.categories import changes, copies, reading
from chalicelib.shop.categories.forms import (
    CategoriesAnswer,
    CategoryAnswer,
    CategoryRemovalQuery,
    Move,
    NewCategory,
    TreeAnswer,
    TreeQuery,
    TreeStoreChoice,
    category_answer,
    tree_answer,
)
from chalicelib.shop.errors import (
    CategoryCycle,
    CategoryNotEmpty,
    CategoryTooDeep,
    SlugTaken,
    TooManyCategories,
    UnknownCategory,
    UnknownShop,
)
from chalicelib.shop.ids import CategoryId, name_of
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher

_TAG_BYTES = 12
_PLACED = (UnknownShop, UnknownCategory, SlugTaken, CategoryTooDeep, CategoryCycle)


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_writes(route)
    _declare_removal(route)
    _declare_tree(route)


def _declare_writes(route: Route) -> None:
    @route(
        "PUT",
        "/shops/{site}/categories/{category}",
        limit=INVENTORY,
        raises=(*_PLACED, TooManyCategories),
    )
    def put_category(
        request: Request,
        site: SiteId,
        category: CategoryId,
        publisher: Publisher,
        body: NewCategory,
    ) -> Ok[CategoryAnswer] | Created[CategoryAnswer]:
        """Add a category as the last child of its parent, or change its name, slug or parent."""
        check_publisher(publisher, site)
        changed = changes.put(request.runtime, site, category, body)
        answer = category_answer(changed.category)
        if not changed.is_new:
            return Ok(answer)
        return Created(answer, request.location(f"/shops/{site}/categories/{category}"))

    @route("POST", "/shops/{site}/categories/{category}/move", limit=INVENTORY, raises=_PLACED)
    def move_category(
        request: Request, site: SiteId, category: CategoryId, publisher: Publisher, body: Move
    ) -> Ok[CategoryAnswer]:
        """Move a category with all below it; its products are listed there within a minute."""
        check_publisher(publisher, site)
        return Ok(category_answer(changes.move(request.runtime, site, category, body)))


def _declare_removal(route: Route) -> None:
    @route(
        "DELETE",
        "/shops/{site}/categories/{category}",
        limit=INVENTORY,
        raises=(UnknownShop, UnknownCategory, SlugTaken, CategoryNotEmpty),
    )
    def remove_category(
        request: Request,
        site: SiteId,
        category: CategoryId,
        publisher: Publisher,
        query: CategoryRemovalQuery,
    ) -> NoContent:
        """Remove a category; its products stay, and lose it within a minute."""
        check_publisher(publisher, site)
        changes.remove(request.runtime, site, category, lifts=query.children == "up")
        return NoContent()


def _tag(runtime: Runtime, version: int) -> str:
    """Return the entity tag of the pages of a tree in a version.

    The key signs their cursors: with another key or release, a stored page is out of date.
    """
    keys = runtime.settings.signing_keys
    digest = signing.state_tag(b"tree\0" + orjson.dumps([__version__, version]), keys, _TAG_BYTES)
    return f'"{version}.{digest.hex()}"'


def _declare_tree(route: Route) -> None:
    @route("GET", "/shops/{site}/categories", raises=(UnknownCategory,))
    def list_categories(
        request: Request, site: SiteId, query: TreeQuery
    ) -> Ok[CategoriesAnswer] | NotModified:
        """Read a part of a shop's tree, depth first; every change of the tree changes its ETag.

        A page begins after the last category of the former page, at its current place. If that
        category is gone, the cursor is invalid: begin the list again.
        """
        database = request.runtime.database
        tag = _tag(request.runtime, reading.tree_of(database, site)["version"])
        if tag in conditional.held_tags(request):
            return NotModified(headers={"ETag": tag})
        cursors = reading.cursors(request.runtime, site, query.under, query.depth)
        after = cursors.position(query)
        branch = reading.subtree(database, site, query.under, query.depth)
        shown, last = page_of(reading.following(branch, site, after), query.limit)
        answer: CategoriesAnswer = {
            "categories": [category_answer(each) for each in shown],
            "next": cursors.following([name_of(last["_id"])] if last else None),
        }
        return Ok(answer, {"ETag": _tag(request.runtime, branch.version)})

    @route("POST", "/shops/{site}/tree", raises=(UnknownShop,))
    def store_tree(
        request: Request, site: SiteId, publisher: Publisher, body: TreeStoreChoice
    ) -> Ok[TreeAnswer]:
        """Move a shop's tree to this store; reads return the same categories as before."""
        check_publisher(publisher, site)
        return Ok(tree_answer(copies.store_in(request.runtime.database, site, body.store)))
