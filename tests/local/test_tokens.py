"""The command that mints tokens, as the documentation has it."""

import jwt
import pytest

from local import tokens


def test_a_role_without_a_site_is_for_all_sites(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A token with an empty list of sites allows none."""
    monkeypatch.setenv("PLAZA_JWT_SECRET", "a secret that is long enough for HS256")
    monkeypatch.setattr("sys.argv", ["script/token", "--sub", "mo", "--role", "moderator"])

    tokens.main()

    claims = jwt.decode(capsys.readouterr().out.strip(), options={"verify_signature": False})
    assert claims["roles"] == ["moderator"]
    assert "sites" not in claims
