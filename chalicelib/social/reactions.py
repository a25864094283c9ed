"""The kinds of reactions, the same for posts and for actions of the activity feed."""

from typing import Literal

ReactionKind = Literal["like", "celebrate", "support", "question"]
