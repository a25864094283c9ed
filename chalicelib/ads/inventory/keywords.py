"""The keywords of an ad unit: bounded, distinct."""

from typing import Annotated

from pydantic import AfterValidator, Field

from chalicelib.keywords import Keyword

MAX_KEYWORDS = 32


MAX_KEYWORD_BYTES = 1_024


def distinct(keywords: list[str]) -> list[str]:
    """Return each keyword once; raises ValueError if they take too many bytes."""
    found = list(dict.fromkeys(keywords))
    if sum(len(keyword.encode()) for keyword in found) > MAX_KEYWORD_BYTES:
        raise ValueError(f"the keywords of an ad unit must have at most {MAX_KEYWORD_BYTES} bytes")
    return found


Keywords = Annotated[list[Keyword], Field(max_length=MAX_KEYWORDS), AfterValidator(distinct)]
