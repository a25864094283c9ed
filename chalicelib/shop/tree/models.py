"""What publishers send of categories."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from chalicelib.http import Input, PageQuery
from chalicelib.shop.ids import CategoryId
from chalicelib.shop.trees.rows import MAX_DEPTH, StoreName
from chalicelib.texts import Line, at_most

MAX_CATEGORIES = 20_000
# Of one answer: with the longest names 1.5 kB each, of the 6 MB that Lambda answers with.
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
    """Where a category goes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"parent": "books", "position": 0}]})

    parent: Parent
    position: Annotated[int, Field(ge=0, le=MAX_CATEGORIES)] | None = Field(
        None, description="Its place among those beside it, from 0; left out, the last."
    )


class TreeStoreChoice(Input):
    """How the tree is stored from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"store": "paths"}]})

    store: StoreName


class RemovalQuery(Input):
    """What becomes of the categories below one that is removed."""

    children: Literal["refuse", "up"] = Field(
        "refuse", description="`up` moves them to where it was; otherwise it has to have none."
    )


class TreeQuery(PageQuery):
    """Which part of a tree is read."""

    limit: int = Field(
        1_000, ge=1, le=MAX_LISTED, description="How many categories a page has at most."
    )
    under: CategoryId | None = Field(None, description="The category that it begins below.")
    depth: int = Field(1, ge=1, le=MAX_DEPTH, description="How many levels are read.")
