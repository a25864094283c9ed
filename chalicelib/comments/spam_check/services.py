"""The service that a deployment asks, if it has one."""

from chalicelib.comments.spam_check.port import SpamCheck
from chalicelib.runtime import Runtime


def service_of(runtime: Runtime) -> SpamCheck | None:
    """Return the service that this deployment has a key of; None for none."""
    key = runtime.settings.akismet_key
    if key is None:
        return None
    # Imported by the worker that asks: no request needs it.
    from chalicelib.comments.spam_check.akismet import Akismet

    return Akismet(runtime.settings.akismet_url, key.get_secret_value())
