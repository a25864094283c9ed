"""Who may act within a site, and what a site may be called."""

import pytest
from pydantic import TypeAdapter, ValidationError

from chalicelib.ads.accounts import AccountId
from chalicelib.comments.node_ids import site_of
from chalicelib.identity import Principal, Role
from chalicelib.sites.ids import SiteId, is_site_id
from chalicelib.sites.permissions import moderated_sites, moderates, owns

SITE_ID: TypeAdapter[str] = TypeAdapter(SiteId)
ACCOUNT: TypeAdapter[str] = TypeAdapter(AccountId)


def somebody(role: Role, *sites: str, named: bool = True) -> Principal:
    return Principal("ann", "Ann", frozenset({role}), sites=frozenset(sites) if named else None)


def test_who_was_taken_off_the_last_site_owns_and_moderates_none() -> None:
    assert not owns(somebody("publisher"), "default")
    assert not moderates(somebody("moderator"), "default")


def test_a_publisher_owns_the_sites_of_the_token() -> None:
    publisher = somebody("publisher", "blog")

    assert owns(publisher, "blog")
    assert moderates(publisher, "blog")
    assert not owns(publisher, "default")
    assert not moderates(publisher, "default")


def test_a_publisher_whose_token_names_no_site_owns_the_default_one() -> None:
    publisher = somebody("publisher", named=False)

    assert owns(publisher, "default")
    assert not owns(publisher, "blog")
    assert moderated_sites(publisher) == frozenset({"default"})


def test_a_moderator_whose_token_names_no_site_moderates_all_and_owns_none() -> None:
    moderator = somebody("moderator", named=False)

    assert moderates(moderator, "blog")
    assert moderated_sites(moderator) is None
    assert not owns(moderator, "default")


def test_sites_alone_make_no_publisher_and_an_admin_owns_every_site() -> None:
    assert not owns(somebody("moderator", "blog"), "blog")
    assert moderated_sites(somebody("advertiser", "blog")) == frozenset()
    assert owns(somebody("admin"), "blog")
    assert moderated_sites(somebody("admin")) is None


@pytest.mark.parametrize("site", ["blog", "a", "harbour_post-2", "x" * 64, "click"])
def test_comments_and_ads_name_a_site_alike(site: str) -> None:
    assert SITE_ID.validate_python(site) == site
    assert is_site_id(site)
    assert site_of(f"{site}:moon") == site
    assert ACCOUNT.validate_python(f"site:{site}") == f"site:{site}"


@pytest.mark.parametrize("site", ["", "Blog", "a.b", "a~b", "x" * 65, "blog\n", "ä"])
def test_no_new_site_has_another_name(site: str) -> None:
    assert not is_site_id(site)
    assert site_of(f"{site}:moon") is None
    for adapter, text in ((SITE_ID, site), (ACCOUNT, f"site:{site}")):
        with pytest.raises(ValidationError):
            adapter.validate_python(text)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("roles", [{"publisher"}, {"moderator"}, {"publisher", "moderator"}])
def test_who_owns_a_site_moderates_it(roles: set[Role], *, named: bool) -> None:
    sites = frozenset({"blog"}) if named else None
    caller = Principal("ann", "Ann", frozenset(roles), sites=sites)

    owned = [site for site in ("default", "blog", "shop") if owns(caller, site)]

    assert all(moderates(caller, site) for site in owned)
    assert bool(owned) == ("publisher" in roles)
