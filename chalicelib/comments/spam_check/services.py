"""Services that detect spam: their protocol, and this deployment's service."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from chalicelib.runtime import Runtime

# `discard`: spam that is so certain that no moderator needs to look. `unknown`: no answer in time,
# or an answer without sense.
Answer = Literal["ham", "spam", "discard", "unknown"]
# A moderator's decision against the service's answer.
Correction = Literal["ham", "spam"]


@dataclass(frozen=True)
class Facts:
    """The facts on a comment that a service judges; `repr` omits name, address and browser."""

    site_url: str
    page_url: str
    is_reply: bool
    text: str
    posted: datetime
    author_name: str = field(repr=False)
    address: str = field(repr=False)
    agent: str = field(repr=False)


class SpamCheck(Protocol):
    """A service that detects spam."""

    def check(self, facts: Facts) -> Answer:
        """Return the service's answer; a failure of any kind is `unknown`."""
        ...

    def correct(self, facts: Facts, correction: Correction) -> bool:
        """Send a correction to the service; return whether the service accepted the correction."""
        ...


def service_of(runtime: Runtime) -> SpamCheck | None:
    """Return the service that this deployment has a key for; None: no service."""
    key = runtime.settings.akismet_key
    if key is None:
        return None
    # Imported late, by the worker that asks: no request needs it.
    from chalicelib.comments.spam_check.akismet import Akismet

    return Akismet(runtime.settings.akismet_url, key.get_secret_value())
