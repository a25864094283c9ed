"""The widgets' words: complete in every language, and words for every failure a widget can meet."""

import json
import re
from pathlib import Path

import pytest

from contract.compatibility import resolve
from deploy.openapi.files import KEPT

ROOT = Path(__file__).resolve().parents[2]
WORDS = ROOT / "web" / "embed" / "words"
# The plural forms of each language, as Intl.PluralRules has them.
FORMS = {
    "ar": {"zero", "one", "two", "few", "many", "other"},
    "de": {"one", "other"},
    "en": {"one", "other"},
    "es": {"one", "many", "other"},
    "fr": {"one", "many", "other"},
    "it": {"one", "many", "other"},
    "ja": {"other"},
    "nl": {"one", "other"},
    "pl": {"one", "few", "many", "other"},
    "pt-br": {"one", "many", "other"},
    "ru": {"one", "few", "many", "other"},
    "uk": {"one", "few", "many", "other"},
    "zh-cn": {"other"},
}
# Forms that stand for one number, which may be written as a word.
OF_ONE_NUMBER = {("ar", "zero"), ("ar", "one"), ("ar", "two")}
# What the elements call, and the words with which each begins in English.
OPERATIONS = {
    "comments": (
        *("postComment", "editComment", "deleteComment", "listComments", "setCommentState"),
        *("pinComment", "unpinComment", "featureComment", "unfeatureComment"),
    ),
    "feed": (
        *(
            "readMyNews",
            "readMyWall",
            "readMyIncomingPosts",
            "readWall",
            "readFeed",
            "markFeedSeen",
        ),
        *("listPostComments", "listActionComments", "publishPost", "listCircles", "editPost"),
        *(
            "voteInPoll",
            "withdrawVote",
            "getPost",
            "deletePost",
            "takeOffMyWall",
            "commentOnPost",
            "editPostComment",
            "deletePostComment",
            "commentOnAction",
            "reactToAction",
            "withdrawReaction",
        ),
        "getAction",
    ),
    "marks": (
        *("getMarks", "voteOnComment", "reactToComment", "withdrawCommentReaction"),
        *("reactToNode", "withdrawNodeReaction"),
    ),
    "flag": ("flagComment", "withdrawFlag"),
    "person": (
        *("getPerson", "listCommentsOfPerson", "listBlocked", "blockPerson", "unblockPerson"),
    ),
    "cart": (
        *("openCart", "getCart", "claimCart", "putLine", "deleteLine", "holdCart"),
        *("checkOutCart", "getOrder", "lookAtPayment", "cancelOrder", "listMyOrders"),
    ),
}
OF = {
    "comments": ("common", "form", "comments"),
    "feed": ("common", "form", "feed", "writing"),
    "marks": ("common", "form", "comments", "marks"),
    "flag": ("common", "form", "comments", "flag"),
    "person": ("common", "form", "comments", "person"),
    "cart": ("common", "cart"),
}
# What is told by how much is left, and what only a fault of the element itself would meet.
TOLD_OTHERWISE = {
    "cart": {
        "out_of_stock",
        *("invalid_json", "body_too_large", "unsupported_media_type", "idempotency_key_reused"),
    },
}
# The files of words, and the plural forms of each.
KINDS = {"": ("count", "fresh", "posts"), "cart": ("left",), "marks": (), "flag": (), "person": ()}
_HEAD = re.compile(r"// @ts-check\n// [^\n]+\nexport default \{\n")
_PAIR = re.compile(r'\s*(?:"([a-z.]+)"|(\w+)):\s*("(?:[^"\\\n]|\\.)*"),\n')


def words(tag: str, kind: str = "") -> dict[str, str]:
    """Read a language; refuse anything but a plain object of texts, each key once."""
    if tag != "en":
        return read_file(WORDS / kind / f"{tag}.js")
    return english(kind) if kind else english("common", "form", "comments", "feed", "writing")


def english(*parts: str) -> dict[str, str]:
    """Read some of the English files; refuse a key that stands in two."""
    read: dict[str, str] = {}
    for part in parts:
        more = read_file(WORDS / "en" / f"{part}.js")
        assert not read.keys() & more.keys()
        read |= more
    return read


def read_file(path: Path) -> dict[str, str]:
    source, tag = path.read_text(), path.stem
    head = _HEAD.match(source)
    assert head, f"{tag} does not begin as the others do"
    read: dict[str, str] = {}
    at = head.end()
    while pair := _PAIR.match(source, at):
        key = pair[1] or pair[2]
        assert key not in read, f"{tag} has {key} twice"
        read[key] = json.loads(pair[3])
        at = pair.end()
    assert source[at:] == "};\n", f"{tag} cannot be read from here: {source[at : at + 60]!r}"
    return read


def plain(read: dict[str, str]) -> dict[str, str]:
    return {key: text for key, text in read.items() if "." not in key}


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("kind", KINDS)
def test_these_are_the_languages(kind: str) -> None:
    assert {file.stem for file in (WORDS / kind).glob("*.js")} | {"en"} == set(FORMS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tag", FORMS)
def test_a_language_has_all_words_and_the_same_placeholders(tag: str, kind: str) -> None:
    english, own = plain(words("en", kind)), plain(words(tag, kind))

    assert set(own) == set(english)
    for key, text in own.items():
        assert text.strip() == text != ""
        assert placeholders(text) == placeholders(english[key]), key


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tag", FORMS)
def test_a_language_has_its_own_plural_forms(tag: str, kind: str) -> None:
    own = words(tag, kind)
    numbered = {key: text for key, text in own.items() if "." in key}

    assert set(numbered) == {f"{what}.{form}" for what in KINDS[kind] for form in FORMS[tag]}
    for key, text in numbered.items():
        spelt = {"n"} if (tag, key.partition(".")[2]) in OF_ONE_NUMBER else set()
        all_of_it = placeholders(words("en", kind)[f"{key.partition('.')[0]}.other"])
        assert all_of_it - spelt <= placeholders(text) <= all_of_it, key


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tag", sorted(set(FORMS) - {"en", "de"}))
def test_what_no_native_speaker_has_read_says_so(tag: str, kind: str) -> None:
    second_line = (WORDS / kind / f"{tag}.js").read_text().splitlines()[1]

    assert second_line == "// Not yet read by a native speaker."


def test_every_word_that_an_element_says_is_there() -> None:
    sources = "".join(each.read_text() for each in WORDS.parent.glob("*.js"))
    said = set(re.findall(r'\bt\("(\w+)"', sources))

    known = words("en")
    for kind in filter(None, KINDS):
        known |= words("en", kind)
    assert len(said) > 30
    assert {key for key in said if key not in known and f"{key}.other" not in known} == set()


def test_every_type_of_action_has_a_sentence() -> None:
    document = json.loads(KEPT.read_text())
    action = document["components"]["schemas"]["FeedActionAnswer"]
    types = action["properties"]["descriptor"]["discriminator"]["mapping"]

    assert {f"did_{name}" for name in types} - set(words("en")) == set()


@pytest.mark.parametrize("element", OPERATIONS)
def test_every_failure_of_the_caller_has_words(element: str) -> None:
    document = json.loads(KEPT.read_text())
    operations = [
        operation
        for path in document["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict) and operation.get("operationId") in OPERATIONS[element]
    ]
    codes = {
        code
        for operation in operations
        for status, answer in operation["responses"].items()
        if "400" <= status < "500"
        for code in resolve(document, answer)["x-problem-codes"]
    }

    assert len(operations) == len(OPERATIONS[element])
    assert codes - set(english(*OF[element])) == TOLD_OTHERWISE.get(element, set())
