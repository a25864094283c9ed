"""Sign-ins by a provider: the person's document at the site, and a code for their token."""

from chalicelib import account_tokens, signing
from chalicelib.account_tokens import SiteAccount
from chalicelib.comments.errors import UnknownLink
from chalicelib.comments.people.links import (
    CODE_LIFETIME,
    CONFIRMATIONS,
    TOKEN_BYTES,
    Confirmation,
    token_hash,
)
from chalicelib.comments.people.rows import PEOPLE, defaults, person_id
from chalicelib.comments.providers.asking import Profile
from chalicelib.comments.sign_in import confirming
from chalicelib.database import Document, upsert
from chalicelib.identity import one_site_id, picture_of
from chalicelib.mail import addressing
from chalicelib.people.names import acceptable, lookalike_key
from chalicelib.runtime import Runtime


def enter(runtime: Runtime, site: str, profile: Profile) -> str:
    """Upsert the person of a profile; return a code, valid for two minutes, for a token."""
    settings = runtime.settings
    user = one_site_id("p", site, profile.issuer, profile.subject, settings.subject_key)
    names = (acceptable(each, settings.reserved_names, is_staff=False) for each in profile.names)
    name = next((each for each in names if each), user)
    said: Document = {
        "name": name,
        "picture": picture_of(profile.picture),
        "taken_key": lookalike_key(name),
    }
    made = defaults(site, user, name, runtime.now())
    email = None if profile.email is None else addressing.ascii_form(profile.email)
    if email is not None:
        keys = addressing.address_keys(email, settings.signing_keys)
        said |= {"email_key": keys[0], "email_keys": keys}
        former = confirming.find_sanctioned(runtime, site, keys)
        if former is not None:
            # Only at the first sign-in: from then on, moderators decide on this account.
            is_new = {"$eq": [{"$type": "$status"}, "missing"]}
            for each in ("status", "until"):
                made[each] = {"$cond": [is_new, {"$literal": former[each]}, f"${each}"]}
    fields: Document = {each: {"$literal": value} for each, value in said.items()}
    if email is None:
        # The address may pass to another person, so its hashes go. Under a sanction they stay:
        # a new account of the address inherits the sanction.
        for each in ("email_key", "email_keys"):
            fields[each] = {"$cond": [{"$eq": ["$status", "ok"]}, "$$REMOVE", f"${each}"]}
    key = {"_id": person_id(site, user)}
    upsert(PEOPLE.of(runtime.database), key, [{"$set": made}, {"$set": fields}])
    return _code(runtime, site, user, name)


def _code(runtime: Runtime, site: str, user: str, name: str) -> str:
    code = signing.encode(runtime.random.randbytes(TOKEN_BYTES))
    made: Confirmation = {
        "_id": token_hash(code),
        "site": site,
        "person": user,
        "name": name,
        "email_key": "",
        "return_to": "",
        "language": "en",
        "expires": runtime.now() + CODE_LIFETIME,
        "kind": "account",
    }
    CONFIRMATIONS.of(runtime.database).insert_one(made)
    return code


def exchange(runtime: Runtime, site: str, code: str) -> SiteAccount:
    """Use a code up and return its account; raises UnknownLink for a used or expired code."""
    now = runtime.now()
    valid = {"site": site, "kind": "account", "expires": {"$gt": now}}
    where = {"_id": token_hash(code), **valid}
    found = CONFIRMATIONS.of(runtime.database).find_one_and_delete(where)
    if found is None:
        raise UnknownLink
    key = {"_id": person_id(site, found["person"])}
    person = PEOPLE.of(runtime.database).find_one(key, {"name": 1, "picture": 1})
    if person is None:
        raise UnknownLink
    # Tokens have whole seconds.
    expires_at = now.replace(microsecond=0) + account_tokens.LIFETIME
    picture = person.get("picture")
    return SiteAccount(found["person"], person["name"], picture, site, expires_at)
