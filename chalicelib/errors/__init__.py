"""Every error that Plaza answers with, each with its HTTP status and stable code.

A new one goes into the file of its feature, and is imported from here.
"""

from chalicelib.errors.ads import *  # noqa: F403 - the door to all of them
from chalicelib.errors.comments import *  # noqa: F403
from chalicelib.errors.general import *  # noqa: F403
from chalicelib.errors.social import *  # noqa: F403
