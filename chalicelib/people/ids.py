"""Ids of people: the `sub` of their tokens, its hash, or of the people of one site, Plaza's own."""

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
# A person whose past an account may take.
CLAIMED_PATTERN = r"^[gi]_[A-Za-z0-9_-]{22}$"
# A person of one site alone: a guest, a person of the site's own issuer (`s_`), or of a provider
# there (`p_`).
ISSUED_ID = re.compile(r"s_[A-Za-z0-9_-]{22}")
ONE_SITE_ID = re.compile(r"[gsp]_[A-Za-z0-9_-]{22}")
