"""The local stack's folder and its own secrets, which are never those of a deployment."""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chalicelib import signing
from local.failures import StartupFailure

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("PLAZA_LOCAL_FOLDER") or ROOT / ".plaza")
_FILE = FOLDER / "secrets.json"
_NAMES = ("PLAZA_JWT_SECRET", "PLAZA_SIGNING_KEYS")
_PUSH_KEYS = ("PLAZA_VAPID_PUBLIC_KEY", "PLAZA_VAPID_PRIVATE_KEY")
_PUSH_CONTACT = "PLAZA_VAPID_CONTACT"
# Push services ask for an address that they may write to; some refuse names of one machine.
_CONTACT = "mailto:plaza@plaza.example"


def make_folder() -> None:
    """Make the folder of the local stack's data; raises StartupFailure if it cannot be made."""
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        if not os.access(FOLDER, os.W_OK):
            raise PermissionError("it is not writable")
    except OSError as error:
        raise StartupFailure(f"the folder {FOLDER} cannot be used ({error})") from None


def local_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment's secrets; missing ones are generated once and kept.

    Raises StartupFailure where the file that keeps them is damaged.
    """
    make_folder()
    kept = _read()
    if not {*_NAMES, *_PUSH_KEYS} <= set(kept):
        kept = {**_made(), **kept}
        _write(kept)
    # One key of a pair is of no use with another's.
    is_given = any(environment.get(name) for name in _PUSH_KEYS)
    names = _NAMES if is_given else (*_NAMES, *_PUSH_KEYS)
    found = {name: environment.get(name) or kept[name] for name in names}
    contact = {} if is_given else {_PUSH_CONTACT: environment.get(_PUSH_CONTACT) or _CONTACT}
    return {**found, **contact}


def _made() -> dict[str, str]:
    pair = ec.generate_private_key(ec.SECP256R1())
    point = pair.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    scalar = pair.private_numbers().private_value.to_bytes(32)
    public, private = (signing.encode(each) for each in (point, scalar))
    return {
        **{name: secrets.token_urlsafe(32) for name in _NAMES},
        **dict(zip(_PUSH_KEYS, (public, private), strict=True)),
    }


def _read() -> dict[str, str]:
    if not _FILE.exists():
        return {}
    try:
        return dict(json.loads(_FILE.read_text()))
    except (OSError, ValueError, TypeError):
        raise StartupFailure(f"{_FILE} is damaged; remove it and new secrets are made") from None


def _write(kept: Mapping[str, str]) -> None:
    """Write the file whole or not at all, readable by its owner alone."""
    draft = _FILE.with_suffix(f".{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(kept))
    draft.replace(_FILE)
