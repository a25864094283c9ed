"""Services that know spam: their protocol, and the one that a deployment uses."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from chalicelib.runtime import Runtime

# `discard` is spam of which the service is so sure that nobody has to look at it. `unknown` is
# whatever is no answer: none in time, or one that makes no sense.
Answer = Literal["ham", "spam", "discard", "unknown"]
# What a moderator has decided against the service.
Correction = Literal["ham", "spam"]


@dataclass(frozen=True)
class Facts:
    """A comment as a service judges it; what says who sent it is in no `repr`."""

    site_url: str
    page_url: str
    is_reply: bool
    text: str
    posted: datetime
    author_name: str = field(repr=False)
    address: str = field(repr=False)
    agent: str = field(repr=False)


class SpamCheck(Protocol):
    """A service that knows spam."""

    def check(self, facts: Facts) -> Answer:
        """Return what the service says; a failure of any kind is `unknown`."""
        ...

    def correct(self, facts: Facts, correction: Correction) -> bool:
        """Tell the service that it was wrong; return whether it has taken that."""
        ...


def service_of(runtime: Runtime) -> SpamCheck | None:
    """Return the service that this deployment has a key of; None for none."""
    key = runtime.settings.akismet_key
    if key is None:
        return None
    # Imported by the worker that asks: no request needs it.
    from chalicelib.comments.spam_check.akismet import Akismet

    return Akismet(runtime.settings.akismet_url, key.get_secret_value())
