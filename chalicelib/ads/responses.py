"""The headers that keep an answer out of caches."""

# A cache would show a decision after its campaign's deactivation.
NO_STORE = {"Cache-Control": "no-store"}
