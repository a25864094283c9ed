"""What the social feed has of a person: the feed's part of `chalicelib.people`.

Public face: itself, which renames, erases and finds.
"""

from chalicelib.social.personal_data.erasure import erase, traces
from chalicelib.social.personal_data.renaming import rename

__all__ = ["erase", "rename", "traces"]
