"""Headers of answers that no browser or proxy may keep."""

# A decision kept by a browser or a proxy would be shown after a deactivation.
NO_STORE = {"Cache-Control": "no-store"}
