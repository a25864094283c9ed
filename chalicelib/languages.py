"""Languages of the texts that readers get: those of the elements of a page."""

from typing import Literal

Language = Literal[
    "ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt-br", "ru", "uk", "zh-cn"
]


def direction(language: str) -> Literal["ltr", "rtl"]:
    """Return the direction in which readers of a language read."""
    return "rtl" if language == "ar" else "ltr"
