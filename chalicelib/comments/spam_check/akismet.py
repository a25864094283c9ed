"""A client of Akismet: it posts a form for a comment, and reads a word and a header.

Source: Akismet's API reference, "Comment Check", "Submit Spam", "Submit Ham", version 1.1.
"""

import http.client
from urllib.parse import urlencode, urlsplit

from chalicelib import outgoing
from chalicelib.comments.spam_check.services import Answer, Correction, Facts
from chalicelib.observability.logs import log

SECONDS = 5.0
_MOST_BYTES = 1_024
_OK = 200
_ANSWERS: dict[bytes, Answer] = {b"true": "spam", b"false": "ham"}
# Akismet's answer to every correction that it accepts.
_THANKS = b"Thanks for making the web a better place."
_AGENT = "Plaza | Akismet-API/1.1"
_WAY = outgoing.Way()


class Akismet:
    """A client of Akismet's API at `url`; every call ends after `seconds`."""

    def __init__(self, url: str, key: str, seconds: float = SECONDS) -> None:
        self._url = urlsplit(url)
        self._key = key
        self._seconds = seconds

    def check(self, facts: Facts) -> Answer:
        """Return Akismet's answer; a failure of any kind is `unknown`."""
        word, tip = self._call("comment-check", facts)
        answer = _ANSWERS.get(word, "unknown")
        return "discard" if answer == "spam" and tip == "discard" else answer

    def correct(self, facts: Facts, correction: Correction) -> bool:
        """Send a correction to Akismet; return whether Akismet accepted the correction."""
        word, _ = self._call(f"submit-{correction}", facts)
        return word == _THANKS

    def _call(self, operation: str, facts: Facts) -> tuple[bytes, str | None]:
        """Return the word and the tip of the answer; b"" and None without a usable answer."""
        form = urlencode({"api_key": self._key, **_form(facts)})
        try:
            status, word, tip = self._send(f"/1.1/{operation}", form)
        except (OSError, http.client.HTTPException, ValueError) as error:
            # Log only the kind of the error: its message may quote the form.
            fields = {"operation": operation, "error": type(error).__name__}
            log.warning("akismet did not answer", extra={"fields": fields})
            return b"", None
        if status != _OK or (word not in _ANSWERS and word != _THANKS):
            log.warning("akismet made no sense", extra={"fields": {"status": status}})
            return b"", None
        return word, tip

    def _send(self, path: str, form: str) -> tuple[int, bytes, str | None]:
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": _AGENT,
            "Connection": "close",
        }
        request = outgoing.HttpRequest(self._url, "POST", path, form, headers)
        answer = outgoing.ask(_WAY, request, self._seconds, _MOST_BYTES)
        return answer.status, answer.body.strip(), answer.headers.get("X-akismet-pro-tip")


def _form(facts: Facts) -> dict[str, str]:
    return {
        "blog": facts.site_url,
        "user_ip": facts.address,
        "user_agent": facts.agent,
        "permalink": facts.page_url,
        "comment_type": "reply" if facts.is_reply else "comment",
        "comment_author": facts.author_name,
        "comment_content": facts.text,
        "comment_date_gmt": facts.posted.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "blog_charset": "UTF-8",
    }
