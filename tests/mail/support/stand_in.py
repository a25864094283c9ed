"""A courier that keeps letters, and answers as a test says."""

from dataclasses import dataclass, field

from chalicelib.errors import Unavailable
from chalicelib.mail import events, letters
from chalicelib.mail.couriers import Outcome
from chalicelib.mail.events import MailEvent
from chalicelib.mail.letters import Draft
from chalicelib.mail.mime import PostedLetter
from chalicelib.mail.rows import LETTERS
from chalicelib.runtime import Runtime


class Crashed(Exception):
    """The process of a worker has ended."""


@dataclass
class StandIn:
    """What it carried; `outcomes` are its next answers, and then it has sent each letter."""

    carried: list[PostedLetter] = field(default_factory=list)
    outcomes: list[Outcome | Exception] = field(default_factory=list)

    def carry(self, letter: PostedLetter) -> Outcome:
        outcome = self.outcomes.pop(0) if self.outcomes else "sent"
        if not isinstance(outcome, Unavailable):
            self.carried.append(letter)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def send_to_a_refusal(runtime: Runtime) -> None:
    """Have a letter come back, and send another to its address."""
    letters.queue(runtime, draft())
    (letter,) = LETTERS.of(runtime.database).find({"_id": "letter-1"})
    told = {
        "eventType": "Bounce",
        "bounce": {"bounceType": "Permanent"},
        "mail": {"tags": {"address": letter["address_keys"]}},
    }
    events.apply(runtime, MailEvent.model_validate(told))
    letters.send(runtime, "letter-1")


def draft(number: int = 1, to: str = "ann@plaza.example") -> Draft:
    return Draft(
        f"letter-{number}",
        "trial",
        to,
        "Hello",
        "Read https://plaza.example/.\n",
        "en",
        "<p>Read.</p>\n",
        "https://plaza.example/stop",
    )
