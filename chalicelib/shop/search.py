"""The search tokens that a product stores."""

from collections.abc import Sequence

from chalicelib.words import index_tokens

# The most tokens of a product, repetitions included; searches find a longer text by its beginning.
MAX_STORED_TOKENS = 1_500
# The weights of tokens in the title, in tags and details, and in the text.
_WEIGHTS = (3, 2, 1)


def stored_tokens(title: str, words: Sequence[str], text: str) -> list[str]:
    """Return at most MAX_STORED_TOKENS tokens of a product, each repeated by its weight.

    Tokens of the title come first and weigh most. A token that occurs in several of the three parts
    has the greatest of their weights.
    """
    found: dict[str, int] = {}
    for weight, part in zip(_WEIGHTS, (title, "\n".join(words), text), strict=True):
        for token in index_tokens(part):
            found.setdefault(token, weight)
    repeated = [token for token, weight in found.items() for _ in range(weight)]
    return repeated[:MAX_STORED_TOKENS]
