"""Languages of the server's texts for people; Plaza's web elements have the same languages."""

from typing import Literal

Language = Literal[
    "ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt-br", "ru", "uk", "zh-cn"
]


def direction(language: str) -> Literal["ltr", "rtl"]:
    """Return the direction of a language's script."""
    return "rtl" if language == "ar" else "ltr"
