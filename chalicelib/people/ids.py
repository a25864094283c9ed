"""Ids of people: the `sub` of their tokens."""

from typing import Annotated

from pydantic import StringConstraints

UserId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_|-]{1,64}$")]
