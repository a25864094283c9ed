"""Ids of people: a token's `sub`, its hash, or an id that Plaza makes for a person of one site."""

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
# A guest or an imported person: an account may claim the past of either.
CLAIMED_PATTERN = r"^[gi]_[A-Za-z0-9_-]{22}$"
ClaimedId = Annotated[str, StringConstraints(pattern=CLAIMED_PATTERN)]
# A person of a site's own issuer (`s_`). `ONE_SITE_ID` also matches guests (`g_`) and people of a
# site's providers (`p_`).
ISSUED_ID = re.compile(r"s_[A-Za-z0-9_-]{22}")
ONE_SITE_ID = re.compile(r"[gsp]_[A-Za-z0-9_-]{22}")
