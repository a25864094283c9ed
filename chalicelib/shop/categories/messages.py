"""Background jobs of the catalogue, and their outbox."""

from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter
from pymongo import ASCENDING, IndexModel

from chalicelib.database import Collection
from chalicelib.jobs.outbox import Job, StoredJob

JOBS = Collection("shop.errand", StoredJob, indexes=(IndexModel([("due", ASCENDING)]),))


class Relist(Job):
    """Correct the places of the products in and below a category after a change of the tree.

    Runs at once, and again once all requests that read the former tree have ended.
    """

    queue: ClassVar[str] = "catalogue"
    runs_twice: ClassVar[bool] = True
    type: Literal["relist"] = "relist"
    site: str
    category: str


class Rewrite(Job):
    """Rewrite every product of a shop in the shop's current layout."""

    queue: ClassVar[str] = "catalogue"
    runs_twice: ClassVar[bool] = True
    type: Literal["rewrite"] = "rewrite"
    site: str


CatalogueJob = Relist | Rewrite
# Deferred: the first message builds it.
JOB: TypeAdapter[CatalogueJob] = TypeAdapter(
    Annotated[CatalogueJob, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)
