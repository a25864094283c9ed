"""The jobs of the catalogue, and the outbox that they are noted in."""

from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter
from pymongo import ASCENDING, IndexModel

from chalicelib.database import Collection
from chalicelib.jobs.outbox import Job, StoredJob

JOBS = Collection("shop.errand", StoredJob, indexes=(IndexModel([("due", ASCENDING)]),))


class Relist(Job):
    """List the products of a category, and below it, where they belong after a change of the tree.

    Done at once, and again when every request that has read the former tree has ended.
    """

    queue: ClassVar[str] = "catalogue"
    runs_twice: ClassVar[bool] = True
    type: Literal["relist"] = "relist"
    site: str
    category: str


class Rewrite(Job):
    """Keep every product of a shop in the layout that the shop has now."""

    queue: ClassVar[str] = "catalogue"
    runs_twice: ClassVar[bool] = True
    type: Literal["rewrite"] = "rewrite"
    site: str


CatalogueJob = Relist | Rewrite
# Built for the first message.
JOB: TypeAdapter[CatalogueJob] = TypeAdapter(
    Annotated[CatalogueJob, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)
