"""The end of the reading of a file that is not of its format."""


class BrokenFile(Exception):
    """The file is not of its format, or ends early; `where` is the line or the record."""

    def __init__(self, where: str, detail: str) -> None:
        super().__init__(f"{where}: {detail}")
        self.where = where
        self.detail = detail
