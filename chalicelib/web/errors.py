"""What a browser may ask for in vain."""

from chalicelib.errors import Problem


class UnknownFile(Problem):
    """The page has no file of this name."""

    status = 404
    code = "unknown_file"
    title = "There is no file of this name"
