"""The HTML of a comment on its site, under the settings and bounds of the deployment."""

import html

from chalicelib.comments.mentions import Mentions
from chalicelib.comments.shapes import Comment
from chalicelib.runtime import Runtime

# The version stored beside the HTML. Change it with the libraries or the rules of `rendering`,
# then run the command `rerender_comments`.
RENDERER = "markdown-it-py 4.3, nh3 0.3, rules 4"


def render_text(
    runtime: Runtime,
    site: str,
    text: str,
    mentions: Mentions | None = None,
    *,
    is_new: bool = True,
) -> str:
    """Return the HTML of a text on a site; raises as `rendering.render`."""
    # A late import: the parser and the sanitiser take 20 ms of a cold start, and most containers
    # render nothing.
    from chalicelib.comments.rendering import render

    images, most = site in runtime.settings.image_sites, runtime.bounds.comments.html_bytes
    return render(text, mentions, images=images, is_new=is_new, max_bytes=most)


def plain_html(text: str) -> str:
    """Return a text as one paragraph, for a text whose HTML would exceed its bound."""
    return f"<p>{html.escape(text, quote=False)}</p>\n"


def places(runtime: Runtime, site: str, text: str, mentions: Mentions, name: str) -> list[int]:
    """Return the positions, ascending, where a text on a site mentions a person by a name."""
    from chalicelib.comments import rendering

    images = site in runtime.settings.image_sites
    return list(rendering.places(text, mentions, name, images=images))


def mentions_of(comment: Comment) -> Mentions:
    """Return the people whom a stored comment mentions, for a new rendering."""
    return Mentions(comment.get("mentions", []))
