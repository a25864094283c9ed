"""A rotation of the keys that sign."""

from pydantic import SecretStr

from chalicelib.runtime import Runtime


def rotate_keys(runtime: Runtime) -> None:
    """Let a new key sign; the former keys still verify."""
    new = SecretStr("the-key-of-after-which-is-long-enough-to-sign")
    keys = (new, *runtime.settings.signing_keys)
    object.__setattr__(runtime.settings, "signing_keys", keys)
