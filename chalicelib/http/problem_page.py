"""Problems as HTML pages, for people who opened an address in a browser."""

from html import escape

from chalicelib.errors import InvalidCursor, InvalidRequest, Problem
from chalicelib.http.pages import page_html
from chalicelib.http.responses import Text

_POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
# Problems of the query: the address without a query shows the first page.
_OF_QUERY = (InvalidCursor, InvalidRequest)


class ProblemPage(Text):
    """A problem as a page that needs no script."""

    media_type = "text/html"
    max_bytes = 100_000


def problem_page(problem: Problem, base_url: str, *, has_query: bool) -> ProblemPage:
    """Return the page of a problem; with a query, it links to the address without one."""
    title, detail = escape(problem.title), escape(problem.detail or "")
    faults = "\n".join(
        f"<li><code>{escape(each.field)}</code> {escape(each.detail)}</li>"
        for each in problem.errors
    )
    name = "To the first page" if isinstance(problem, _OF_QUERY) else "To the whole page"
    main = f"""{f"<p>{detail}</p>" if detail else ""}
{f"<ul>{faults}</ul>" if faults else ""}
<p>{f'<a href="?">{name}</a>' if has_query else ""} <small>{escape(problem.code)}</small></p>"""
    headers = {"Content-Security-Policy": _POLICY, "Vary": "Accept", **problem.headers}
    page = ProblemPage(page_html(title, main, base_url), headers)
    page.status_code = problem.status
    return page
