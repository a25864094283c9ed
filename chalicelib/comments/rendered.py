"""The HTML of a comment on its site, by the settings and bounds."""

from chalicelib.comments.mentions import Mentions
from chalicelib.comments.shapes import Comment
from chalicelib.runtime import Runtime

# Stored beside the HTML that it made. Change it with the libraries or the rules of `rendering`,
# then run the command `rerender_comments`.
RENDERER = "markdown-it-py 4.3, nh3 0.3, rules 3"


def rendered(
    runtime: Runtime,
    site: str,
    text: str,
    mentions: Mentions | None = None,
    *,
    is_new: bool = True,
) -> str:
    """Return the HTML of a text on a site; raises as `rendering.render`."""
    # Imported for the first text: the parser and the sanitiser take 20 ms of a cold start, and
    # most containers render nothing.
    from chalicelib.comments.rendering import render

    images, most = site in runtime.settings.image_sites, runtime.bounds.comments.html_bytes
    return render(text, mentions, images=images, is_new=is_new, max_bytes=most)


def places(runtime: Runtime, site: str, text: str, mentions: Mentions, name: str) -> list[int]:
    """Return where a text on a site mentions a person by a name, in its order."""
    from chalicelib.comments import rendering

    images = site in runtime.settings.image_sites
    return list(rendering.places(text, mentions, name, images=images))


def mentions_of(comment: Comment) -> Mentions:
    """Return the people whom a stored comment mentions, for its text to be rendered again."""
    return Mentions(comment.get("mentions", []))
