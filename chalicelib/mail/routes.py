"""The route that sends a trial letter from a deployment."""

from typing import Annotated

from chalice.app import Blueprint
from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib.addresses import Email
from chalicelib.http import Accepted, Input, Request, router
from chalicelib.http.callers import Admin
from chalicelib.ids import ID_PATTERN, new_id
from chalicelib.limits import MAIL
from chalicelib.mail import addressing, events, letters
from chalicelib.mail.errors import MailOff, MailUnwanted
from chalicelib.mail.letters import Draft
from chalicelib.runtime import Runtime


class MailTrial(Input):
    """An address to try the mail with."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"email": "ann@plaza.example"}]})

    email: Email
    again: bool = Field(
        default=False,
        description="Send letters again to an address that has refused one, as after a "
        "repair of its mailbox.",
    )


class MailTrialAnswer(TypedDict):
    """A letter that is on its way."""

    letter: Annotated[str, Field(pattern=ID_PATTERN, description="Its id in the database.")]


def routes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of mail."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Operation")

    @route("POST", "/mail/trials", limit=MAIL, raises=(MailOff, MailUnwanted))
    def try_mail(request: Request, admin: Admin, body: MailTrial) -> Accepted[MailTrialAnswer]:
        """Send a letter that says only that mail works here."""
        del admin
        to = addressing.reachable(body.email)
        here = request.runtime
        if not letters.is_on(here):
            raise MailOff
        keys = addressing.address_keys(to, here.settings.signing_keys)
        if body.again:
            events.allow(here, keys)
        elif not events.takes_mail(here, keys):
            raise MailUnwanted
        letter_id = new_id(here.now(), here.random)
        address = here.settings.public_url or "this address"
        text = f"Plaza can send mail. You tried it at {address}.\n"
        letters.queue(here, Draft(letter_id, "trial", to, "Plaza can send mail", text, "en"))
        request.details["letter"] = letter_id
        return Accepted({"letter": letter_id})

    return blueprint
