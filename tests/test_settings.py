import pytest

from chalicelib.settings import InvalidSettings, Settings
from tests import settings_page


def test_a_variable_sets_the_field_of_its_name() -> None:
    settings = Settings.from_environment({"PLAZA_DATABASE": "town", "PLAZA_LEASE_MS": "1500"})

    assert (settings.database, settings.lease_ms) == ("town", 1500)


def test_an_empty_variable_counts_as_unset() -> None:
    assert Settings.from_environment({"PLAZA_DATABASE": ""}) == Settings()


def test_a_list_is_separated_by_commas() -> None:
    settings = Settings.from_environment(
        {"PLAZA_ALLOWED_ORIGINS": "https://a.example, https://b.example,"}
    )

    assert settings.allowed_origins == ("https://a.example", "https://b.example")


@pytest.mark.parametrize(
    ("text", "sites"),
    [("true", ("default",)), ("False", ()), ("blog, shop", ("blog", "shop")), ("", ())],
)
def test_open_nodes_names_sites_and_true_stands_for_the_default_one(
    text: str, sites: tuple[str, ...]
) -> None:
    settings = Settings.from_environment({"PLAZA_OPEN_NODES": text})

    assert settings.open_nodes == sites


def test_every_variable_at_fault_is_named() -> None:
    with pytest.raises(InvalidSettings) as failure:
        Settings.from_environment({"PLAZA_LEASE_MS": "soon", "PLAZA_LOG_LEVEL": "loud"})

    assert "PLAZA_LEASE_MS" in str(failure.value)
    assert "PLAZA_LOG_LEVEL" in str(failure.value)


def test_secrets_do_not_show_when_settings_are_printed() -> None:
    settings = Settings.from_environment(
        {"PLAZA_JWT_SECRET": "hush" * 8, "PLAZA_SIGNING_KEYS": "hush" * 8}
    )

    assert "hush" not in repr(settings)


@pytest.mark.parametrize("variable", ["PLAZA_JWT_SECRET", "PLAZA_SIGNING_KEYS"])
def test_a_secret_that_can_be_guessed_is_refused_and_not_repeated(variable: str) -> None:
    with pytest.raises(InvalidSettings) as failure:
        Settings.from_environment({variable: "x" * 31})

    assert variable in str(failure.value)
    assert "xxx" not in str(failure.value)


@pytest.mark.parametrize("name", ["admin", "config", "local", "a.b", "$a", ""])
def test_the_servers_own_databases_and_names_that_cannot_be_are_refused(name: str) -> None:
    with pytest.raises((InvalidSettings, ValueError)):
        Settings(database=name)


def test_a_key_set_needs_an_audience() -> None:
    """Or a token for any other application of the identity provider would be good here."""
    with pytest.raises(InvalidSettings) as failure:
        Settings.from_environment({"PLAZA_JWKS_URL": "https://keys.example/jwks.json"})

    assert str(failure.value).startswith("PLAZA_JWKS_URL needs PLAZA_JWT_AUDIENCE")
    assert "\n" not in str(failure.value)


def test_what_a_setting_has_to_be_is_said_without_the_words_of_a_library() -> None:
    with pytest.raises(InvalidSettings) as failure:
        Settings.from_environment({"PLAZA_JWKS_URL": "http://keys.example/jwks.json"})

    assert str(failure.value) == "PLAZA_JWKS_URL: this must be an https URL"


@pytest.mark.parametrize(
    "url",
    [
        "http://keys.example/jwks.json",
        "http://127.0.0.1.example/jwks.json",
        "ftp://127.0.0.1/jwks.json",
        "file:///etc/passwd",
        "https:///jwks.json",
        "keys.example",
        "http://[::1",
    ],
)
def test_a_key_set_is_read_over_https_alone(url: str) -> None:
    with pytest.raises(InvalidSettings) as failure:
        Settings.from_environment({"PLAZA_JWKS_URL": url, "PLAZA_JWT_AUDIENCE": "plaza"})

    assert "PLAZA_JWKS_URL" in str(failure.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://keys.example/jwks.json",
        "http://127.0.0.1:8080/k",
        "http://[::1]/k",
        "http://localhost/k",
    ],
)
def test_a_key_set_may_be_on_this_machine(url: str) -> None:
    given = {"PLAZA_JWKS_URL": url, "PLAZA_JWT_AUDIENCE": "plaza"}

    assert Settings.from_environment(given).jwks_url == url


def test_without_a_provider_named_no_payments_are_taken() -> None:
    assert Settings.from_environment({}).payments is None


@pytest.mark.parametrize(
    "left_out", [("PLAZA_STRIPE_KEY",), ("PLAZA_STRIPE_WEBHOOK_SECRETS",), ("both",)]
)
def test_stripe_needs_its_secrets_at_the_start(left_out: tuple[str, ...]) -> None:
    stripe = {"PLAZA_STRIPE_KEY": "sk_live_1", "PLAZA_STRIPE_WEBHOOK_SECRETS": "w" * 32}
    given = {name: value for name, value in stripe.items() if {name, "both"}.isdisjoint(left_out)}
    wanted = [name for name in stripe if name not in given]
    with pytest.raises(InvalidSettings) as failure:
        Settings.from_environment({"PLAZA_PAYMENTS": "stripe", **given})

    assert str(failure.value) == f"PLAZA_PAYMENTS=stripe needs {' and '.join(wanted)}"
    assert Settings.from_environment({"PLAZA_PAYMENTS": "stripe", **stripe}).payments == "stripe"


def test_a_function_that_receives_no_events_says_so() -> None:
    given = {"PLAZA_STRIPE_KEY": "sk_live_1", "PLAZA_STRIPE_WEBHOOK_SECRETS": "off"}

    settings = Settings.from_environment({"PLAZA_PAYMENTS": "stripe", **given})

    assert settings.stripe_webhook_secrets is None


def test_the_fake_is_never_beside_a_key_set() -> None:
    """A key set is an identity provider's, so real people would get goods for nothing."""
    given = {"PLAZA_JWKS_URL": "https://keys.example/jwks.json", "PLAZA_JWT_AUDIENCE": "plaza"}
    with pytest.raises(InvalidSettings) as failure:
        Settings.from_environment({"PLAZA_PAYMENTS": "fake", **given})

    assert str(failure.value).startswith("PLAZA_PAYMENTS=fake takes no money")
    assert "PLAZA_JWKS_URL" in str(failure.value)
    assert Settings.from_environment({"PLAZA_PAYMENTS": "fake"}).payments == "fake"
    assert Settings.from_environment(given).payments is None


@pytest.mark.parametrize(("text", "factor"), [("off", None), ("2", 2.0), ("0.5", 0.5), ("", 1.0)])
def test_limits_are_a_factor_or_off(text: str, factor: float | None) -> None:
    assert Settings.from_environment({"PLAZA_LIMITS": text}).limits == factor


@pytest.mark.parametrize("text", ["0", "-1", "none", "nan", "inf", "1001"])
def test_other_limits_are_refused(text: str) -> None:
    with pytest.raises(InvalidSettings) as failure:
        Settings.from_environment({"PLAZA_LIMITS": text})

    assert "PLAZA_LIMITS" in str(failure.value)


def test_the_page_of_settings_is_current() -> None:
    assert settings_page.FILE.read_text() == settings_page.page(), "run script/settings"


def test_every_setting_has_a_row_that_says_what_it_is() -> None:
    rows = _rows_of_the_page()

    assert sorted(rows) == sorted(f"PLAZA_{field.upper()}" for field in Settings.model_fields)
    assert [variable for variable, cells in rows.items() if not cells[-1]] == []


def test_the_page_of_settings_has_every_area() -> None:
    titles = [line for line in settings_page.page().splitlines() if line.startswith("## ")]

    assert titles == [f"## {area}" for area in dict.fromkeys(settings_page.AREAS.values())]
    assert settings_page.AREAS.keys() <= Settings.model_fields.keys()


def test_the_page_of_settings_shows_no_secrets_default() -> None:
    rows = _rows_of_the_page()

    assert [rows[name][1] for name in ("PLAZA_MONGODB_URI", "PLAZA_SIGNING_KEYS")] == ["", ""]
    assert "mongodb://" not in settings_page.page()


def _rows_of_the_page() -> dict[str, list[str]]:
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in settings_page.page().replace("| |", "|  |").splitlines()
        if line.startswith("| `PLAZA_")
    ]
    return {row[0].strip("`"): row for row in rows}


@pytest.mark.parametrize("key", ["", "short", "A" * 42, "A" * 43, "_" * 43, "é" * 43, "A" * 44])
def test_a_private_key_of_another_form_is_refused(key: str) -> None:
    given = {"PLAZA_VAPID_PRIVATE_KEY": key or "x", "PLAZA_VAPID_CONTACT": "mailto:a@b.example"}
    with pytest.raises(InvalidSettings, match="PLAZA_VAPID_PRIVATE_KEY"):
        Settings.from_environment(given)


KEY = "EjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8"


@pytest.mark.parametrize("key", [f"+/{KEY[2:]}", f"{KEY}\n ", f"{KEY[:-1]}9", f"!{KEY}"])
def test_a_private_key_in_another_alphabet_is_refused(key: str) -> None:
    given = {"PLAZA_VAPID_PRIVATE_KEY": key, "PLAZA_VAPID_CONTACT": "mailto:a@b.example"}
    with pytest.raises(InvalidSettings, match="PLAZA_VAPID_PRIVATE_KEY"):
        Settings.from_environment(given)


def test_a_sender_of_push_messages_says_whom_to_write_to() -> None:
    key = {"PLAZA_VAPID_PRIVATE_KEY": KEY}
    with pytest.raises(InvalidSettings, match="needs PLAZA_VAPID_CONTACT"):
        Settings.from_environment(key)
    assert Settings.from_environment({**key, "PLAZA_VAPID_CONTACT": "https://a.example"})
