"""The secrets of the local stack: made once, kept, and none of the environment's replaced."""

import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chalicelib.push import vapid
from chalicelib.settings import Settings
from local import local_secrets
from tests.push.support.keys import KEYS, OTHER_KEY

ENDPOINT = "https://fcm.googleapis.com/fcm/send/one"
URI = {"PLAZA_MONGODB_URI": "mongodb://127.0.0.1"}
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that keeps the secrets."""
    found = tmp_path / "data" / "secrets.json"
    monkeypatch.setattr(local_secrets, "FOLDER", found.parent)
    monkeypatch.setattr(local_secrets, "_FILE", found)
    return found


def authorization(found: dict[str, str]) -> str:
    settings = Settings.from_environment({**URI, **found})
    return vapid.authorization(settings, ENDPOINT, NOW)


def test_secrets_are_made_once_and_are_their_owners_alone(file: Path) -> None:
    found = local_secrets.local_secrets({})

    assert local_secrets.local_secrets({}) == found
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert found["PLAZA_JWT_SECRET"] != found["PLAZA_SIGNING_KEYS"]


def test_push_messages_are_signed_by_a_pair_of_keys(file: Path) -> None:
    found = local_secrets.local_secrets({})

    assert authorization(found).endswith(f"k={found['PLAZA_VAPID_PUBLIC_KEY']}")
    file.unlink()
    assert local_secrets.local_secrets({})["PLAZA_VAPID_PUBLIC_KEY"] not in found.values()


def test_a_folder_of_an_earlier_release_gets_the_keys_that_it_lacks(file: Path) -> None:
    file.parent.mkdir()
    file.write_text(json.dumps({"PLAZA_JWT_SECRET": "j" * 43, "PLAZA_SIGNING_KEYS": "s" * 43}))

    found = local_secrets.local_secrets({})

    assert (found["PLAZA_JWT_SECRET"], found["PLAZA_SIGNING_KEYS"]) == ("j" * 43, "s" * 43)
    assert authorization(found)
    assert local_secrets.local_secrets({}) == found


def test_secrets_of_the_environment_stand_above_those_that_are_kept(file: Path) -> None:
    assert file.parent.name == "data"
    contact = {"PLAZA_VAPID_CONTACT": "mailto:me@plaza.example"}
    found = local_secrets.local_secrets({"PLAZA_JWT_SECRET": "mine", **contact})

    assert found["PLAZA_JWT_SECRET"] == "mine"
    assert found["PLAZA_VAPID_CONTACT"] == contact["PLAZA_VAPID_CONTACT"]


def test_a_pair_of_the_environment_is_never_mixed_with_the_kept_one(file: Path) -> None:
    assert file.parent.name == "data"
    given = {"PLAZA_VAPID_PUBLIC_KEY": KEYS["vapid_public_key"]}

    found = local_secrets.local_secrets(given)

    assert not {"PLAZA_VAPID_PUBLIC_KEY", "PLAZA_VAPID_PRIVATE_KEY"} & found.keys()
    assert local_secrets.local_secrets({"PLAZA_VAPID_PRIVATE_KEY": OTHER_KEY}) == found
