"""Programs among callers, by a maintained list of user agents.

Source: github.com/monperrus/crawler-user-agents, pinned in requirements.txt.
"""

import re
from functools import cache, lru_cache

MAX_CHARACTERS = 512


def is_bot(user_agent: str | None) -> bool:
    """Return whether a User-Agent is a crawler's or a script's; browsers always send one."""
    return not user_agent or _is_listed(user_agent[:MAX_CHARACTERS])


def is_feed_reader(user_agent: str | None) -> bool:
    """Return whether a User-Agent is a feed reader's, which the list has too."""
    return bool(user_agent) and _reads_feeds(str(user_agent)[:MAX_CHARACTERS])


@lru_cache(maxsize=4_096)
def _is_listed(user_agent: str) -> bool:
    # Imported at the first call of a visitor, which few containers have.
    from crawleruseragents import is_crawler  # type: ignore[import-untyped]

    return bool(is_crawler(user_agent))


@lru_cache(maxsize=4_096)
def _reads_feeds(user_agent: str) -> bool:
    return _feed_readers().search(user_agent) is not None


@cache
def _feed_readers() -> re.Pattern[str]:
    """Return the pattern of the listed feed readers, made at first use."""
    from crawleruseragents import CRAWLER_USER_AGENTS_DATA

    patterns = [
        each["pattern"] for each in CRAWLER_USER_AGENTS_DATA if "feed-reader" in each["tags"]
    ]
    return re.compile("|".join(patterns))
