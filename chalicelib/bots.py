"""Calls without a person: from programs, by HEAD, and from browsers that load an address ahead.

The list of programs is github.com/monperrus/crawler-user-agents, pinned in requirements.txt.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

MAX_CHARACTERS = 512
# The Fetch standard has `Sec-Purpose` ("prefetch;prerender"). Older browsers sent the others.
_PURPOSES = ("sec-purpose", "purpose", "x-purpose", "x-moz")
_AHEAD = re.compile("prefetch|prerender|preview", re.IGNORECASE)


def is_by_person(method: str, headers: Mapping[str, str]) -> bool:
    """Return whether a person opens the address now; ads count and bill no other call."""
    return not is_ahead(method, headers) and not is_bot(headers.get("user-agent"))


def is_ahead(method: str, headers: Mapping[str, str]) -> bool:
    """Return whether a call only looks ahead: it shows a person nothing, but may lead to a visit.

    That is HEAD, a prefetch, a preview, or a page that a browser renders before a person opens it.
    """
    return method == "HEAD" or any(_AHEAD.search(headers.get(name) or "") for name in _PURPOSES)


def is_bot(user_agent: str | None) -> bool:
    """Return whether a User-Agent is a crawler's or a script's; browsers always send one."""
    return not user_agent or _is_in_list(user_agent[:MAX_CHARACTERS])


def is_feed_reader(user_agent: str | None) -> bool:
    """Return whether a User-Agent is a feed reader's; feed readers are also bots for `is_bot`."""
    return bool(user_agent) and _reads_feeds(str(user_agent)[:MAX_CHARACTERS])


@lru_cache(maxsize=4_096)
def _is_in_list(user_agent: str) -> bool:
    # Imported late: few containers have calls of visitors.
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
