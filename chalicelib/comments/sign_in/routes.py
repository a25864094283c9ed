"""Routes of new guests, of the links in guests' letters, and of sign-ins of earlier guests."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib import guest_tokens
from chalicelib.addresses import Email
from chalicelib.comments.errors import GuestsOff, NameTaken, UnknownLink
from chalicelib.comments.people import guests
from chalicelib.comments.people.links import SIGN_IN_LIFETIME, TOKEN_PATTERN
from chalicelib.comments.sign_in import addresses, confirming, entering, letters
from chalicelib.comments.sign_in.addresses import ReturnTo
from chalicelib.comments.sign_in.letters import WantedLetter
from chalicelib.comments.sign_in.page import page_of
from chalicelib.comments.sites import settings
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.guest_tokens import MAX_TOKEN_CHARACTERS, Guest
from chalicelib.http import Accepted, Created, Found, Input, Ok, Request, Route
from chalicelib.http.pages import LinkPage
from chalicelib.identity import Principal
from chalicelib.languages import Language
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


class SignIn(Input):
    """The confirmed address of a guest, and the page that the sign-in returns to."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"email": "ann@plaza.example", "return_to": "https://alpha.example/"}]
        }
    )

    email: Email
    return_to: ReturnTo
    language: Language = Field("en", description="The language of the letter and of its page.")


class SignInAnswer(TypedDict):
    """An accepted request for a letter; the letter goes out only if the address has a guest."""

    site: SiteId
    expires_at: Annotated[datetime, Field(description="The end of its link.")]


class SignInCode(Input):
    """The code from the fragment that a letter's link leads to, `#plaza-guest=`."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"code": "A" * 43}]})

    code: Annotated[str, StringConstraints(pattern=TOKEN_PATTERN), Field(examples=["A" * 43])]


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_guests(route)
    _declare_links(route)
    _declare_sign_in(route)


def _declare_guests(route: Route) -> None:
    @route("POST", "/sites/{site}/guests", limit=GUESTS, raises=(GuestsOff, NameTaken, MailOff))
    def begin_guest(
        request: Request, site: SiteId, caller: Principal | None, body: NewGuest
    ) -> Created[GuestAnswer]:
        """Begin to write at a site without an account, under a name of your choice.

        A guest comments, votes, reacts and reports at this site alone, always has the trust of new
        people, and can export and erase their data. If you give an email address, Plaza sends it a
        letter, and your comments wait until you follow the letter's link. Call again as the guest
        for another letter.
        """
        here = request.runtime
        guest = guests.begin(here, site, body.name, caller)
        wanted = _find_letter(here, site, body)
        if wanted is not None:
            letters.send(here, guest, wanted)
        request.details["made"] = guest.id
        return Created(_answer(here, guest), request.location(f"/sites/{site}/people/{guest.id}"))


def _answer(runtime: Runtime, guest: Guest) -> GuestAnswer:
    return {
        "id": guest.id,
        "name": guest.name,
        "site": guest.site,
        "token": guest_tokens.issue(guest, runtime.settings.signing_keys),
        "expires_at": guest.expires_at,
    }


def _find_letter(runtime: Runtime, site: str, body: NewGuest) -> WantedLetter | None:
    """Return the letter that a new guest needs at a site; None: the site asks for no address.

    Raises InvalidRequest for an unexpected or missing address or page, or for a foreign page.
    """
    found = settings.of(runtime, site)
    given = {"email": body.email, "return_to": body.return_to}
    if found.get("guests") != "email":
        _refuse({name for name, value in given.items() if value is not None}, "unexpected")
        return None
    _refuse({name for name, value in given.items() if value is None}, "missing")
    _check_page(runtime, site, body.return_to or "")
    return WantedLetter(body.email or "", body.return_to or "", body.language)


def _check_page(runtime: Runtime, site: str, page: str) -> None:
    """Raise InvalidRequest unless a page is of the site's origins."""
    if not addresses.is_of(page, settings.of(runtime, site).get("origins", [])):
        _refuse({"return_to"}, "foreign")


_REFUSED = {
    "unexpected": "This site asks for none",
    "missing": "This site asks for it",
    "foreign": "This is no page of the site's origins",
}


def _refuse(names: set[str], code: str) -> None:
    """Raise InvalidRequest with an error for each of these fields; no fields: do nothing."""
    if names:
        faults = [FieldError(name, code, _REFUSED[code]) for name in sorted(names)]
        raise InvalidRequest(errors=faults)


def _declare_links(route: Route) -> None:
    @route("GET", "/sites/{site}/guests/confirmation", raises=(UnknownLink,))
    def show_confirmation(request: Request, site: SiteId, query: LinkQuery) -> LinkPage:
        """Show the page of a letter's link: its button confirms the address, or signs you in.

        The call changes nothing: a mail program that opens links confirms no address.
        """
        found = confirming.find(request.runtime, site, query.token)
        return page_of(found, query.token, request.runtime.settings.public_url)

    @route("POST", "/sites/{site}/guests/confirmation", content_types=(), raises=(UnknownLink,))
    def confirm_address(request: Request, site: SiteId, query: LinkQuery) -> Found:
        """Use a letter's link up: confirm its address or sign its guest in, and redirect."""
        found, page = entering.press(request.runtime, site, query.token)
        request.details["guest"] = found["person"]
        return Found("", {"Location": page, "Referrer-Policy": "no-referrer"})


def _declare_sign_in(route: Route) -> None:
    @route("POST", "/sites/{site}/sign-in", limit=GUESTS, raises=(GuestsOff, MailOff))
    def send_sign_in(request: Request, site: SiteId, body: SignIn) -> Accepted[SignInAnswer]:
        """Send an earlier guest a letter with a link to sign in, on any device.

        The answer is the same for every address. The link redirects to the page with a code in the
        fragment: `#plaza-guest=`.
        """
        here = request.runtime
        entering.check_open(here, site)
        _check_page(here, site, body.return_to)
        wanted = WantedLetter(body.email, body.return_to, body.language)
        letters.send_sign_in(here, site, wanted)
        return Accepted({"site": site, "expires_at": here.now() + SIGN_IN_LIFETIME})

    @route("POST", "/sites/{site}/sign-in/token", raises=(GuestsOff, UnknownLink))
    def exchange_code(request: Request, site: SiteId, body: SignInCode) -> Ok[GuestAnswer]:
        """Exchange a link's code for the guest's token; the code works once, for two minutes."""
        guest = entering.exchange(request.runtime, site, body.code)
        request.details["guest"] = guest.id
        return Ok(_answer(request.runtime, guest))
