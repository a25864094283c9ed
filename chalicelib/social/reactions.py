"""Kinds of reactions: posts and actions of the activity feed have the same."""

from typing import Literal

ReactionKind = Literal["like", "celebrate", "support", "question"]
