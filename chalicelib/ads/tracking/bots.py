"""Which callers are programs: by a list of user agents that its makers keep up to date."""

from functools import lru_cache

from crawleruseragents import is_crawler  # type: ignore[import-untyped]

MAX_CHARACTERS = 512


def is_bot(user_agent: str | None) -> bool:
    """Return whether a User-Agent is a crawler's, a script's, or none, which no browser sends.

    Source: github.com/monperrus/crawler-user-agents, pinned in requirements.txt.
    """
    return not user_agent or _is_listed(user_agent[:MAX_CHARACTERS])


@lru_cache(maxsize=4_096)
def _is_listed(user_agent: str) -> bool:
    return bool(is_crawler(user_agent))
