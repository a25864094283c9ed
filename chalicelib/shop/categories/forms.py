"""Categories as the API reads and shows them."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.http import Input, PageQuery
from chalicelib.http.paging import Next
from chalicelib.shop.categories.rows import MAX_DEPTH, Ancestor, Category, StoreName, Tree
from chalicelib.shop.ids import CategoryId, name_of
from chalicelib.sites.ids import SiteId
from chalicelib.texts import Line, ShownName, at_most

MAX_CATEGORIES = 20_000
# The most categories of an answer: up to 1.5 kB each, within the 6 MB of a Lambda's answer.
MAX_LISTED = 2_000

CategorySlug = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9-]{1,64}$"),
    Field(description="Its part of an address, unique beside it.", examples=["novels"]),
]
Parent = Annotated[
    CategoryId | None, Field(description="The category that it is below; null at the top.")
]


class NewCategory(Input):
    """A category, whole."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Novels", "slug": "novels", "parent": "books"}]}
    )

    name: Annotated[Line, at_most(100)]
    slug: CategorySlug
    parent: Parent = None


class Move(Input):
    """The new place of a category."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"parent": "books", "position": 0}]})

    parent: Parent
    position: Annotated[int, Field(ge=0, le=MAX_CATEGORIES)] | None = Field(
        None, description="Its place among its siblings, from 0; left out, the last."
    )


class TreeStoreChoice(Input):
    """The store to move a tree to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"store": "paths"}]})

    store: StoreName


class CategoryRemovalQuery(Input):
    """The fate of the children of a removed category."""

    children: Literal["refuse", "up"] = Field(
        "refuse",
        description="`up` moves its children to its parent; `refuse` needs it to have none.",
    )


class TreeQuery(PageQuery):
    """A part of a tree."""

    limit: int = Field(
        1_000, ge=1, le=MAX_LISTED, description="How many categories a page has at most."
    )
    under: CategoryId | None = Field(None, description="The category that it begins below.")
    depth: int = Field(1, ge=1, le=MAX_DEPTH, description="How many levels are read.")


class CategoryAnswer(TypedDict):
    """A category in its tree."""

    id: CategoryId
    name: ShownName
    slug: CategorySlug
    parent: CategoryId | None
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH, description="1 at the top.")]


class CategoriesAnswer(TypedDict):
    """A page of a part of a tree, depth first: each category after its parent."""

    categories: Annotated[list[CategoryAnswer], Field(max_length=MAX_LISTED)]
    next: Next


class CrumbAnswer(TypedDict):
    """A category above another."""

    id: CategoryId
    name: ShownName
    slug: CategorySlug


class TreeAnswer(TypedDict):
    """The store and the size of a shop's tree."""

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
