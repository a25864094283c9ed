"""A bound on the number of a Markdown text's tokens, which bounds the parser's time."""

from typing import Any

import markdown_it
from markdown_it.token import Token

# A second's work for the parser. 200,000 characters of prose have 17,000 tokens; as many characters
# of list items or table cells have 300,000.
MOST_TOKENS = 100_000
# The key in `env` of the number of tokens that the parser may still make.
TOKENS_LEFT = "tokens_left"


class TooLarge(Exception):
    """The HTML has too many bytes, or the text too many tokens."""


class Tokens(list[Token]):
    """A list of a text's tokens; all lists of the text share the bound in `env`."""

    def __init__(self, env: Any) -> None:
        super().__init__()
        self._env = env

    def append(self, token: Token) -> None:
        """Add a token; raise TooLarge if the text has MOST_TOKENS already."""
        if not self._env[TOKENS_LEFT]:
            raise TooLarge
        self._env[TOKENS_LEFT] -= 1
        super().append(token)


def bound_blocks(parser: markdown_it.MarkdownIt) -> None:
    """Make a parser raise TooLarge for a text with too many blocks."""
    parse = parser.block.parse

    def parse_within_bounds(
        text: str, md: markdown_it.MarkdownIt, env: Any, tokens: list[Token]
    ) -> list[Token]:
        bounded = Tokens(env)
        parse(text, md, env, bounded)
        tokens.extend(bounded)
        return tokens

    parser.block.parse = parse_within_bounds  # type: ignore[assignment,method-assign]
