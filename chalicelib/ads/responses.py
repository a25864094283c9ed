"""Headers of answers that nobody may keep."""

NO_STORE = {"Cache-Control": "no-store"}


# A decision kept by a browser or a proxy would be shown after a deactivation.
NO_STORE = {"Cache-Control": "no-store"}


NO_STORE = {"Cache-Control": "no-store"}
