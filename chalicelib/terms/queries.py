"""Search queries, and their words in the folded form that rows store."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import PageQuery
from chalicelib.words import tokens

# The most results of a page: each may need the read of a document.
MOST = 50
MOST_WORDS = 5
# A run without spaces, as in Chinese, has a token for each pair of neighbouring characters.
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
    """Return the tokens of a query, each once, folded.

    Raises InvalidRequest without a word, above `MOST_WORDS` words, and above `MOST_TOKENS` tokens.
    """
    words = tokens(text)
    number = sum(1 for part in text.split() if tokens(part))
    if not words or number > MOST_WORDS or len(words) > MOST_TOKENS:
        detail = f"a search needs 1 to {MOST_WORDS} words, and not too long ones"
        raise InvalidRequest(errors=[FieldError("q", "words", detail)])
    return words
