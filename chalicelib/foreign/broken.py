"""The error of a file that breaks its format."""


class BrokenFile(Exception):
    """The file breaks its format, or ends early; `where`: the line, the byte or the database."""

    def __init__(self, where: str, detail: str) -> None:
        super().__init__(f"{where}: {detail}")
        self.where = where
        self.detail = detail
