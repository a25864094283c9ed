"""A discussion of any length, the same for every format."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

COMMENTS_IN_THREAD = 100
READERS = 50
_START = datetime(2019, 3, 31, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Written:
    """A comment of the discussion: the third of three answers the second."""

    number: int
    words: str = ""

    @property
    def thread(self) -> int:
        return self.number // COMMENTS_IN_THREAD

    @property
    def path(self) -> str:
        return f"/posts/{self.thread}/"

    @property
    def title(self) -> str:
        return f"Post {self.thread} & more"

    @property
    def key(self) -> str:
        return str(self.number + 1)

    @property
    def parent(self) -> str | None:
        place = self.number % COMMENTS_IN_THREAD
        return str(self.number) if place % 3 == 2 else None

    @property
    def posted(self) -> datetime:
        return _START + timedelta(minutes=self.number)

    @property
    def name(self) -> str:
        return f"Reader {self.number % READERS}"

    @property
    def account(self) -> str:
        return f"account-{self.number % READERS}"

    @property
    def email(self) -> str:
        return f"reader{self.number % READERS}@mail.example"

    @property
    def text(self) -> str:
        return f"Comment {self.key} of this post. {self.words}".strip()

    @property
    def is_first(self) -> bool:
        """Whether it is the first of its thread."""
        return self.number % COMMENTS_IN_THREAD == 0

    def posted_as(self, form: str) -> str:
        return self.posted.strftime(form)


def discussion(count: int, words: str = "") -> Iterator[Written]:
    """Yield the comments, thread by thread."""
    return (Written(number, words) for number in range(count))
