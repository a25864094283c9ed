"""Routes of new guests, and of the links in their letters."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib import guest_tokens
from chalicelib.addresses import Email
from chalicelib.comments.errors import GuestsOff, NameTaken, UnknownLink
from chalicelib.comments.people import guests
from chalicelib.comments.people.links import TOKEN_PATTERN
from chalicelib.comments.sign_in import addresses, confirming, letters
from chalicelib.comments.sign_in.addresses import ReturnTo
from chalicelib.comments.sign_in.letters import WantedLetter
from chalicelib.comments.sign_in.page import ConfirmationPage, page_of
from chalicelib.comments.sign_in.words import Language
from chalicelib.comments.sites import settings
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.guest_tokens import MAX_TOKEN_CHARACTERS
from chalicelib.http import Created, Found, Input, Request, Route
from chalicelib.identity import Principal
from chalicelib.limits import GUESTS
from chalicelib.mail.errors import MailOff
from chalicelib.people.ids import UserId
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.texts import PersonName, ShownName


class NewGuest(Input):
    """The name of a reader without an account; their address, where the site asks for it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Ferry passenger"}]})

    name: PersonName
    email: Email | None = Field(
        None,
        description="Where a letter with a link goes. Needed where `guests` of the site's settings "
        "is `email`, as `return_to` is; refused elsewhere.",
    )
    return_to: ReturnTo | None = None
    language: Language = Field("en", description="The language of the letter and of its page.")


class GuestAnswer(TypedDict):
    """A guest of a site, with the token of their calls."""

    id: UserId
    name: ShownName
    site: SiteId
    token: Annotated[
        str,
        Field(
            max_length=MAX_TOKEN_CHARACTERS,
            description="Sent as a bearer token. Who loses it is another guest from then on.",
        ),
    ]
    expires_at: datetime


class LinkQuery(Input):
    """The query of a letter's link."""

    token: Annotated[
        str,
        StringConstraints(pattern=TOKEN_PATTERN),
        Field(description="It works once, for a day.", examples=["A" * 43]),
    ]


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_guests(route)
    _declare_links(route)


def _declare_guests(route: Route) -> None:
    @route("POST", "/sites/{site}/guests", limit=GUESTS, raises=(GuestsOff, NameTaken, MailOff))
    def begin_guest(
        request: Request, site: SiteId, caller: Principal | None, body: NewGuest
    ) -> Created[GuestAnswer]:
        """Begin to write at a site without an account, under a name of your choice.

        A guest comments, votes, reacts and reports at this site alone, has the trust of new people
        for ever, and can export and erase themselves. With an address, comments wait until its
        reader confirms the link of a letter; a guest who calls again gets another letter.
        """
        here = request.runtime
        guest = guests.begin(here, site, body.name, caller)
        wanted = _wanted(here, site, body)
        if wanted is not None:
            letters.send(here, guest, wanted)
        request.details["made"] = guest.id
        return Created(
            {
                "id": guest.id,
                "name": guest.name,
                "site": guest.site,
                "token": guest_tokens.issue(guest, here.settings.signing_keys),
                "expires_at": guest.expires_at,
            },
            request.location(f"/sites/{site}/people/{guest.id}"),
        )


def _wanted(runtime: Runtime, site: str, body: NewGuest) -> WantedLetter | None:
    """Return the letter that a new guest needs at a site; None: the site asks for no address.

    Raises InvalidRequest for an address too much or too few, or for a page elsewhere.
    """
    found = settings.of(runtime, site)
    given = {"email": body.email, "return_to": body.return_to}
    if found.get("guests") != "email":
        _refuse({name for name, value in given.items() if value is not None}, "unexpected")
        return None
    _refuse({name for name, value in given.items() if value is None}, "missing")
    if not addresses.is_of(body.return_to or "", found.get("origins", [])):
        _refuse({"return_to"}, "foreign")
    return WantedLetter(body.email or "", body.return_to or "", body.language)


_REFUSED = {
    "unexpected": "This site asks for none",
    "missing": "This site asks for it",
    "foreign": "This is no page of the site's origins",
}


def _refuse(names: set[str], code: str) -> None:
    """Raise InvalidRequest for fields; none: do nothing."""
    if names:
        faults = [FieldError(name, code, _REFUSED[code]) for name in sorted(names)]
        raise InvalidRequest(errors=faults)


def _declare_links(route: Route) -> None:
    @route("GET", "/sites/{site}/guests/confirmation", raises=(UnknownLink,))
    def show_confirmation(request: Request, site: SiteId, query: LinkQuery) -> ConfirmationPage:
        """Show the page of a letter's link, whose button confirms the address.

        It changes nothing, so that programs which open the links of letters confirm none.
        """
        found = confirming.find(request.runtime, site, query.token)
        return page_of(found, query.token, request.runtime.settings.public_url)

    @route("POST", "/sites/{site}/guests/confirmation", content_types=(), raises=(UnknownLink,))
    def confirm_address(request: Request, site: SiteId, query: LinkQuery) -> Found:
        """Confirm the address of a letter's link once, show the guest's comments, and lead back."""
        found = confirming.confirm(request.runtime, site, query.token)
        request.details["guest"] = found["person"]
        headers = {"Location": found["return_to"], "Referrer-Policy": "no-referrer"}
        return Found("", headers)
