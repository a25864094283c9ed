"""The tokens of a Markdown text: bounded in number, so that no text takes a parser long."""

from typing import Any

import markdown_it
from markdown_it.token import Token

# Blocks and parts of lines: a second's work. 200,000 characters of prose have 17,000, and so many
# of list items or cells have 300,000.
MOST_TOKENS = 100_000
# The key of the environment that has the number of tokens which a text may still have.
TOKENS_LEFT = "tokens_left"


class TooLarge(Exception):
    """The HTML has too many bytes, or the text too many tokens."""


class Tokens(list[Token]):
    """Tokens of a text; all lists of a text share its bound."""

    def __init__(self, env: Any) -> None:
        super().__init__()
        self._env = env

    def append(self, token: Token) -> None:
        """Add a token; raises TooLarge."""
        if not self._env[TOKENS_LEFT]:
            raise TooLarge
        self._env[TOKENS_LEFT] -= 1
        super().append(token)


def bound_blocks(parser: markdown_it.MarkdownIt) -> None:
    """Let a parser end at a text with too many blocks."""
    parse = parser.block.parse

    def parse_within_bounds(
        text: str, md: markdown_it.MarkdownIt, env: Any, tokens: list[Token]
    ) -> list[Token]:
        bounded = Tokens(env)
        parse(text, md, env, bounded)
        tokens.extend(bounded)
        return tokens

    parser.block.parse = parse_within_bounds  # type: ignore[assignment,method-assign]
