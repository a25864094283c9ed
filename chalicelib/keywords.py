"""Keywords and tags, normalised: each word has one form."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

MAX_KEYWORD_CHARACTERS = 64


def normalise_keyword(text: str) -> str:
    """Return a keyword in the form for comparisons: NFKC and case folded, spaces joined.

    Without soft hyphens, joiners and other invisible format characters. Source: The Unicode
    Standard, section 3.13, toNFKC_Casefold.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKC", visible).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def _parse_keyword(text: str) -> str:
    keyword = normalise_keyword(text)
    if not 1 <= len(keyword) <= MAX_KEYWORD_CHARACTERS:
        raise ValueError(
            f"a keyword must have 1 to {MAX_KEYWORD_CHARACTERS} characters once normalised"
        )
    if "," in keyword or not keyword.replace(" ", "").isprintable():
        raise ValueError("a keyword must not contain commas or control characters")
    return keyword


Keyword = Annotated[
    str, StringConstraints(max_length=MAX_KEYWORD_CHARACTERS), AfterValidator(_parse_keyword)
]
