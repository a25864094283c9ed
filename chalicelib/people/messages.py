"""The jobs of people: a new name, and an erasure."""

from datetime import datetime
from typing import ClassVar, Literal

from chalicelib.jobs.outbox import Job


class Rename(Job):
    """Propagate a user's name to every copy of it."""

    queue: ClassVar[str] = "social-errands"
    runs_twice: ClassVar[bool] = True
    type: Literal["rename"] = "rename"
    user_id: str


class Erase(Job):
    """Erase a user and everything that names them."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["erase"] = "erase"
    user_id: str


class EraseLate(Job):
    """Erase what was written up to a time, after an erasure, by requests that began before it."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["erase-late"] = "erase-late"
    user_id: str
    until: datetime


PersonJob = Rename | Erase | EraseLate
