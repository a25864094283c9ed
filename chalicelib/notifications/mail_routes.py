"""Routes of letters of notifications: a person's setting, and the links in letters."""

from collections.abc import Callable
from html import escape
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.addresses import Email
from chalicelib.http import Input, Ok, Request, Route, everybody
from chalicelib.http.pages import LinkPage, LinkText, link_page
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.languages import Language
from chalicelib.limits import MAIL
from chalicelib.mail import addressing, letters
from chalicelib.mail.errors import MailOff
from chalicelib.mail.letters import Draft
from chalicelib.notifications import mail_links, mailing
from chalicelib.notifications.errors import NoMailAddress, UnknownMailLink
from chalicelib.notifications.mail_links import TOKEN_PATTERN
from chalicelib.notifications.mailing import NEVER, Every, MailSetting, Rhythm, rhythm_of
from chalicelib.notifications.words import MAIL_WORDS
from chalicelib.people.features import CheckToken
from chalicelib.runtime import Runtime
from chalicelib.texts import ShownLine
from chalicelib.time_zones import Zone

# Returns the keyed hashes of the caller's verified address at a site; []: none.
VerifiedKeys = Callable[[Runtime, str, Principal], list[str]]
# - `unconfirmed`: no letters yet; the reader has to confirm the address by the link in a letter;
# - `refused`: no letters; a letter bounced from the address, or its reader reported one as spam.
MailState = Literal["off", "unconfirmed", "on", "refused"]


class MailChoice(Input):
    """When and where a reader gets letters of notifications."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"every": "daily", "hour": 8, "time_zone": "Europe/Berlin"}]
        }
    )

    every: Every = Field(
        description="`at_once`: five minutes after a notification, unless you look before."
    )
    hour: int = Field(NEVER.hour, ge=0, le=23, description="Of `daily` and `weekly` letters.")
    weekday: int = Field(NEVER.weekday, ge=1, le=7, description="Of `weekly` letters; 1: Monday.")
    time_zone: Zone = NEVER.time_zone
    language: Language = NEVER.language
    email: Email | None = Field(
        None, description="Where letters go; left out: the address there is, or the account's."
    )


class MailChoiceAnswer(TypedDict):
    """A reader's letters of notifications."""

    every: Every
    hour: Annotated[int, Field(ge=0, le=23)]
    weekday: Annotated[int, Field(ge=1, le=7)]
    time_zone: Zone
    language: Language
    email: Annotated[ShownLine | None, Field(description="Null: none is known yet.")]
    state: Annotated[
        MailState,
        Field(
            description="`unconfirmed`: a letter to the address has a link to press; `refused`: "
            "a letter came back from there, or was called spam."
        ),
    ]


class MailLinkQuery(Input):
    """The query of a letter's link."""

    token: Annotated[str, StringConstraints(pattern=TOKEN_PATTERN), Field(examples=["A" * 43])]


def declare(route: Route, verified: VerifiedKeys, check_token: CheckToken) -> None:
    """Declare the routes."""
    _declare_choice(route, verified, check_token)
    _declare_confirmation(route)
    _declare_stop(route)


def _declare_choice(route: Route, verified: VerifiedKeys, check_token: CheckToken) -> None:
    @route("GET", "/notifications/mail", of_one_site=everybody)
    def get_notification_mail(request: Request, caller: Principal) -> Ok[MailChoiceAnswer]:
        """Return when and where you get letters of notifications."""
        return Ok(_answer(request.runtime, mailing.find(request.runtime, caller.id)))

    @route("PUT", "/notifications/mail", of_one_site=everybody, raises=(MailOff, NoMailAddress))
    def put_notification_mail(
        request: Request, caller: Principal, body: MailChoice
    ) -> Ok[MailChoiceAnswer]:
        """Choose when you get letters of notifications, and where.

        A letter has the notifications since the last letter that you have neither seen nor read,
        and whose things you still see. Without any, there is no letter. An address that your
        account does not vouch for first gets a letter with a link that confirms the address.
        """
        check_token(request.runtime, caller)
        _choose(request, verified, caller, body)
        # For deploy/replay.py: after a restore of the database, it repeats a choice of `off`.
        request.details["every"] = body.every
        return Ok(_answer(request.runtime, mailing.find(request.runtime, caller.id)))


def _choose(request: Request, verified: VerifiedKeys, caller: Principal, body: MailChoice) -> None:
    """Store a reader's choice; unless the address is surely the reader's, send a confirmation link.

    Raises MailOff, NoMailAddress, InvalidRequest and TooFast.
    """
    here, is_on = request.runtime, body.every != "off"
    if is_on and not letters.may_link(here):
        raise MailOff
    before = mailing.find(here, caller.id)
    address = _address(body, caller, before)
    if is_on and address is None:
        raise NoMailAddress
    is_sure = address is not None and _is_sure(here, verified, caller, before, address)
    if is_on and not is_sure:
        request.count(MAIL)
    rhythm = Rhythm(body.every, body.hour, body.weekday, body.time_zone, body.language)
    mailing.choose(here, caller.id, rhythm, address, sure=is_sure)
    if is_on and not is_sure and address is not None:
        _ask(here, caller.id, address, body.language)


def _address(body: MailChoice, caller: Principal, before: MailSetting | None) -> str | None:
    """Return the address that letters go to, in `addressing.ascii_form`; None: unknown.

    Raises InvalidRequest for an address that no letter reaches.
    """
    if body.email is not None:
        return addressing.reachable(body.email)
    if before is not None and "email" in before:
        return before["email"]
    return addressing.ascii_form(caller.email) if caller.email else None


def _is_sure(
    runtime: Runtime,
    verified: VerifiedKeys,
    caller: Principal,
    before: MailSetting | None,
    address: str,
) -> bool:
    """Return whether the caller has confirmed the address, or the token or site vouches for it."""
    if before is not None and before["is_confirmed"] and before.get("email") == address:
        return True
    vouched = addressing.ascii_form(caller.email) if caller.email else None
    if vouched is not None and vouched.lower() == address.lower():
        return True
    known = verified(runtime, caller.site, caller) if caller.site else []
    keys = addressing.address_keys(address, runtime.settings.signing_keys)
    return not set(known).isdisjoint(keys)


def _ask(runtime: Runtime, user_id: str, address: str, language: Language) -> None:
    """Send the letter with an address's confirmation link; none above the limit of the mailbox."""
    words = MAIL_WORDS[language]
    link = mail_links.confirm_url(runtime, user_id, address)
    letter_id = new_id(runtime.now(), runtime.random)
    text = words.letter.format(link=link)
    draft = Draft(letter_id, "notifications", address, words.confirm, text, language)
    letters.queue(runtime, draft, is_withheld=not letters.may_have(runtime, address))


def _answer(runtime: Runtime, row: MailSetting | None) -> MailChoiceAnswer:
    every, hour, weekday, time_zone, language = rhythm_of(row) if row else NEVER
    return {
        "every": every,
        "hour": hour,
        "weekday": weekday,
        "time_zone": time_zone,
        "language": language,
        "email": row.get("email") if row else None,
        "state": _state(runtime, row),
    }


def _state(runtime: Runtime, row: MailSetting | None) -> MailState:
    if row is None or row["every"] == "off":
        return "off"
    if not row["is_confirmed"]:
        return "unconfirmed"
    return "refused" if letters.refuses_letters(runtime, row.get("email", "")) else "on"


def _declare_confirmation(route: Route) -> None:
    @route("GET", "/notifications/mail/confirmation", raises=(UnknownMailLink,))
    def show_mail_confirmation(request: Request, query: MailLinkQuery) -> LinkPage:
        """Show the page of a letter's link; only its button confirms the address.

        Programs that scan letters open the links in them.
        """
        row = mail_links.find_setting(request.runtime, query.token)
        words = MAIL_WORDS[row["language"]]
        email = f"<bdi>{escape(row.get('email', ''))}</bdi>"
        question = escape(words.question).format(email=email)
        text = LinkText(escape(words.confirm), question, words.yes, row["language"])
        return link_page(text, f"?token={query.token}", request.runtime.settings.public_url)

    @route(
        "POST",
        "/notifications/mail/confirmation",
        content_types=(),
        raises=(UnknownMailLink,),
    )
    def confirm_mail(request: Request, query: MailLinkQuery) -> LinkPage:
        """Confirm the address of a letter's link: letters of notifications go there from now on."""
        row = mail_links.find_setting(request.runtime, query.token)
        if not mailing.confirm(request.runtime, row):
            raise UnknownMailLink
        request.details["person"] = row["_id"]
        words = MAIL_WORDS[row["language"]]
        sentence = escape(words.confirmed)
        text = LinkText(escape(words.confirm), sentence, "", row["language"])
        return link_page(text, "", request.runtime.settings.public_url)


def _declare_stop(route: Route) -> None:
    @route("GET", "/notifications/mail/stop", raises=(UnknownMailLink,))
    def show_mail_stop(request: Request, query: MailLinkQuery) -> LinkPage:
        """Show the page of a letter's link, whose button turns such letters off.

        It changes nothing: programs that scan letters open the links in them.
        """
        return _stop_page(request, query, is_done=False)

    @route("POST", "/notifications/mail/stop", content_types=(), raises=(UnknownMailLink,))
    def stop_mail(request: Request, query: MailLinkQuery) -> LinkPage:
        """Turn a reader's letters of notifications off, without a sign-in.

        Mail programs call it for their reader (RFC 8058); a repeat changes nothing.
        """
        user_id = mail_links.stopped_by(request.runtime, query.token)
        mailing.stop(request.runtime, user_id)
        request.details["person"] = user_id
        return _stop_page(request, query, is_done=True)


def _stop_page(request: Request, query: MailLinkQuery, *, is_done: bool) -> LinkPage:
    """Return the page of a stop link, with a button unless `is_done`; raise UnknownMailLink."""
    user_id = mail_links.stopped_by(request.runtime, query.token)
    row = mailing.find_by_link(request.runtime, user_id)
    language = row["language"] if row else NEVER.language
    words = MAIL_WORDS[language]
    sentence = escape(words.stopped if is_done else words.stop_question)
    text = LinkText(escape(words.stop), sentence, words.stop, language)
    action = "" if is_done else f"?token={query.token}"
    return link_page(text, action, request.runtime.settings.public_url)
