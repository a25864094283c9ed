"""The forms in which the API answers about categories."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.http.paging import Next
from chalicelib.shop.ids import CategoryId, name_of
from chalicelib.shop.tree.models import MAX_LISTED, CategorySlug
from chalicelib.shop.trees.rows import MAX_DEPTH, Ancestor, Category, StoreName, Tree
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownName


class CategoryAnswer(TypedDict):
    """A category in its tree."""

    id: CategoryId
    name: ShownName
    slug: CategorySlug
    parent: CategoryId | None
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH, description="1 at the top.")]


class CategoriesAnswer(TypedDict):
    """A page of a part of a tree, depth first: each after the one that it is below."""

    categories: Annotated[list[CategoryAnswer], Field(max_length=MAX_LISTED)]
    next: Next


class CrumbAnswer(TypedDict):
    """A category above another."""

    id: CategoryId
    name: ShownName
    slug: CategorySlug


class TreeAnswer(TypedDict):
    """How a shop's tree is stored."""

    site: SiteId
    store: StoreName
    categories: Annotated[int, Field(description="How many it has.")]


def category_answer(category: Category) -> CategoryAnswer:
    """Return a category as the API shows it."""
    return {
        "id": name_of(category["_id"]),
        "name": category["name"],
        "slug": category["slug"],
        "parent": name_of(category["parent"]) if category["parent"] else None,
        "depth": category["depth"],
    }


def crumb_answer(ancestor: Ancestor) -> CrumbAnswer:
    """Return a category above another as the API shows it."""
    return {"id": name_of(ancestor["_id"]), "name": ancestor["name"], "slug": ancestor["slug"]}


def tree_answer(tree: Tree) -> TreeAnswer:
    """Return a tree as the API shows it."""
    return {"site": tree["_id"], "store": tree["store"], "categories": tree["count"]}
