"""Failures to start the local stack."""


class StartupFailure(Exception):
    """The stack cannot start; the message is one line that says what to do."""
