"""Queries of readers, and their words as rows store them."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import PageQuery
from chalicelib.words import tokens

# Each result may need a document of its own.
MOST = 50
MOST_WORDS = 5
# A word without spaces, as in Chinese, has a token for each pair of neighbours.
MOST_TOKENS = 20
MAX_CHARACTERS = 200

SearchText = Annotated[str, StringConstraints(max_length=MAX_CHARACTERS)]


class WordsQuery(PageQuery):
    """The query of a search."""

    q: SearchText = Field(
        description=f"Words that all occur, at most {MOST_WORDS}, in any script. "
        "Case and accents do not matter.",
        examples=["ferry"],
    )
    limit: int = Field(20, ge=1, le=MOST, description="How many results a page has at most.")


def words_of(text: str) -> list[str]:
    """Return the words of a query as rows store them; raises InvalidRequest."""
    words = tokens(text)
    number = sum(1 for part in text.split() if tokens(part))
    if not words or number > MOST_WORDS or len(words) > MOST_TOKENS:
        detail = f"a search needs 1 to {MOST_WORDS} words, and not too long ones"
        raise InvalidRequest(errors=[FieldError("q", "words", detail)])
    return words
