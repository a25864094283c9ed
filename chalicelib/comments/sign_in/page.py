"""The page of a letter's link: a question to the reader, and a button to confirm."""

from html import escape

from chalicelib.comments.people.links import Confirmation
from chalicelib.comments.sign_in.addresses import origin_of
from chalicelib.comments.sign_in.sign_in_words import SIGN_IN_WORDS
from chalicelib.comments.sign_in.words import WORDS
from chalicelib.http.pages import LinkPage, LinkText, link_page


def page_of(found: Confirmation, token: str, public_url: str) -> LinkPage:
    """Return the page of a link, in the language of its letter."""
    words = (SIGN_IN_WORDS if found.get("kind") == "sign_in" else WORDS)[found["language"]]
    title = escape(words["title"]).format(site=escape(found["site"]))
    name = f"<bdi>{escape(found['name'])}</bdi>"
    question = escape(words["question"]).format(name=name, site=escape(found["site"]))
    text = LinkText(title, question, words["yes"], found["language"])
    return link_page(text, f"?token={token}", public_url, origin_of(found["return_to"]) or "")
