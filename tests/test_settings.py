import pytest

from chalicelib.settings import InvalidSettings, Settings


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
