"""Sign-ins of earlier guests by the link of a letter.

The link redirects to the site's page with a code in the fragment: browsers send no fragment to a
server. The page exchanges the code for the guest's token, once and within two minutes.
"""

from chalicelib import guest_tokens, signing
from chalicelib.comments.errors import GuestsOff, UnknownLink
from chalicelib.comments.people.links import (
    CODE_LIFETIME,
    CONFIRMATIONS,
    TOKEN_BYTES,
    Confirmation,
    token_hash,
)
from chalicelib.comments.people.rows import PEOPLE, person_id
from chalicelib.comments.sign_in import confirming
from chalicelib.comments.sites import settings
from chalicelib.database import Document
from chalicelib.guest_tokens import Guest
from chalicelib.runtime import Runtime

FRAGMENT = "plaza-guest="


def press(runtime: Runtime, site: str, token: str) -> tuple[Confirmation, str]:
    """Use a link up: confirm its address, or make a code for its guest.

    Returns the link, and the page to redirect to. Raises UnknownLink.
    """
    found = confirming.find(runtime, site, token)
    if found.get("kind") != "sign_in":
        return confirming.confirm(runtime, site, token), found["return_to"]
    taken = _take(runtime, {"_id": found["_id"], "kind": "sign_in"})
    code = signing.encode(runtime.random.randbytes(TOKEN_BYTES))
    made: Confirmation = {
        **taken,
        "_id": token_hash(code),
        "kind": "code",
        "expires": runtime.now() + CODE_LIFETIME,
    }
    CONFIRMATIONS.of(runtime.database).insert_one(made)
    return taken, f"{taken['return_to']}#{FRAGMENT}{code}"


def exchange(runtime: Runtime, site: str, code: str) -> Guest:
    """Return the guest of a code, and use the code up; raises GuestsOff and UnknownLink."""
    check_open(runtime, site)
    valid = {"site": site, "kind": "code", "expires": {"$gt": runtime.now()}}
    found = _take(runtime, {"_id": token_hash(code), **valid})
    key = {"_id": person_id(site, found["person"])}
    person = PEOPLE.of(runtime.database).find_one(key, {"name": 1, "joined": 1})
    if person is None or "joined" in person:
        raise UnknownLink
    made = guest_tokens.new_guest(site, person["name"], runtime.now(), runtime.random)
    return made._replace(id=found["person"])


def check_open(runtime: Runtime, site: str) -> None:
    """Raise GuestsOff unless the setting `guests` of a site is `email`."""
    if settings.of(runtime, site).get("guests") != "email":
        raise GuestsOff


def _take(runtime: Runtime, where: Document) -> Confirmation:
    """Remove a link or code and return it; of two concurrent calls, one raises UnknownLink."""
    found = CONFIRMATIONS.of(runtime.database).find_one_and_delete(where)
    if found is None:
        raise UnknownLink
    return found
