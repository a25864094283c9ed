"""Ids of people: the `sub` of their tokens, or its hash (`chalicelib.identity`)."""

from typing import Annotated

from pydantic import StringConstraints

ID_PATTERN = r"^[A-Za-z0-9_|-]{1,64}$"
UserId = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
