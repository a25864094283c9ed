"""Ids of people: the `sub` of their tokens, its hash (`chalicelib.identity`), or a guest's."""

import re
from typing import Annotated

from pydantic import StringConstraints

ID_PATTERN = r"^[A-Za-z0-9_|-]{1,64}$"
UserId = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
# A person without an account (`chalicelib.guest_tokens`).
GUEST_PATTERN = r"^g_[A-Za-z0-9_-]{22}$"
GUEST_ID = re.compile(GUEST_PATTERN)
# A person of another system, whose comments were imported (`chalicelib.comments.importing`).
IMPORTED = "i_"
IMPORTED_ID = re.compile(r"i_[A-Za-z0-9_-]{22}")
