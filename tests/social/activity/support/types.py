"""Types of descriptors that a test registers."""

from collections.abc import Callable

from chalicelib.social.activity.actions.types import Descriptor

Register = Callable[[type[Descriptor]], None]
