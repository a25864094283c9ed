"""What keeps the local stack from starting."""


class StartupFailure(Exception):
    """The stack cannot start; the message is one line that says what to do."""
