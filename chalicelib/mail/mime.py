"""Letters as MIME messages (RFC 5322, RFC 2045), the same for each courier."""

from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP
from typing import NamedTuple


class PostedLetter(NamedTuple):
    """The input of a courier; `address_key` is the keyed hash of `to`.

    `html` and `stop_url` are "" in a letter without them.
    """

    id: str
    to: str
    subject: str
    text: str
    language: str
    address_key: str
    html: str = ""
    stop_url: str = ""

    def __repr__(self) -> str:
        """Return nothing personal, for logs and traces."""
        return f"PostedLetter({self.id!r}, ...)"


# ASCII alone: otherwise a mail server may encode a letter anew, and so break the signature.
_POLICY = SMTP.clone(cte_type="7bit")


def message_of(letter: PostedLetter, sender: str) -> bytes:
    """Return the ASCII bytes of a letter's message: text alone, or text and HTML as alternatives.

    Raises ValueError for a header with a line break.
    """
    heads = {
        "From": sender,
        "To": letter.to,
        "Subject": letter.subject,
        "Content-Language": letter.language,
        # RFC 3834: no out-of-office program answers.
        "Auto-Submitted": "auto-generated",
    }
    if letter.stop_url:
        heads["List-Unsubscribe"] = f"<{letter.stop_url}>"
        heads["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    body = EmailMessage(_POLICY)
    body.set_content(letter.text)
    if letter.html:
        body.add_alternative(letter.html, subtype="html")
    lines = "".join(_header(name, text) for name, text in heads.items())
    return lines.encode("ascii") + body.as_bytes()


def _header(name: str, text: str) -> str:
    """Return a header line; raise ValueError for a text with a line break.

    `EmailMessage` would decode encoded words in the text first; here they stay literal.
    """
    if len(f"{text}.".splitlines()) > 1:
        raise ValueError("a header is a line")
    if not text.isascii() or "=?" in text:
        text = Header(text, "utf-8", header_name=name).encode(linesep=_POLICY.linesep)
    return f"{name}: {text}{_POLICY.linesep}"
