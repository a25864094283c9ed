"""The local stack's own secrets: made once, kept in .plaza, never those of a deployment."""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("PLAZA_LOCAL_FOLDER") or ROOT / ".plaza")
_FILE = FOLDER / "secrets.json"
_NAMES = ("PLAZA_JWT_SECRET", "PLAZA_SIGNING_KEYS")


def local_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment's secrets; one that it lacks is made up once and kept."""
    kept: dict[str, str] = json.loads(_FILE.read_text()) if _FILE.exists() else {}
    if set(kept) != set(_NAMES):
        kept = {name: secrets.token_urlsafe(32) for name in _NAMES}
        _write(kept)
    return {name: environment.get(name) or kept[name] for name in _NAMES}


def _write(kept: Mapping[str, str]) -> None:
    """Write the file whole or not at all, readable by its owner alone."""
    FOLDER.mkdir(exist_ok=True)
    draft = _FILE.with_suffix(f".{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(kept))
    draft.replace(_FILE)
