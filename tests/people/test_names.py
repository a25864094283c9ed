# ruff: noqa: RUF001 - letters that look like others are what this is about
"""Names that would pass for staff, and real names that must not be taken for them."""

import time

import pytest

from chalicelib.people.names import acceptable, is_reserved

STAFF = [
    "Admin",
    "ADMIN",
    "admin!",
    "[admin]",
    "Administrator",
    "Anna (Moderator)",
    "Moderator Bob",
    "A d m i n",
    "A.d.m.i.n",
    "admin_42",
    "Adm1n",
    "@dmin",
    "M0der4tor",
    "Аdmin",  # Cyrillic A
    "Αdmіn",  # Greek A, Cyrillic i
    "ａｄｍｉｎ",
    "𝐀𝐝𝐦𝐢𝐧",
    "Ádmín",
    "AdmIn",
    "admln",
    "rnoderator",
    "Ad\u200bmin",
    "Ad\u00admin",
    "ᎪdᎷin",
    "Администратор",
    "モデレーター",
    "管理员",
    "Plaza",
    "Plaza Support",
    "The Plaza Team",
    "PlazaSupport",
    "Official Plaza Mod",
    "p l a z a",
    "Ρlaza",  # Greek Rho
    "Support",
    "System",
]
PEOPLE = [
    "Rosa Plaza",
    "Joe Root",
    "Mod",
    "Modesto",
    "Theo",
    "Staffan",
    "Admira",
    "Adminah",
    "The Team",
    "Ångström",
    "Søren Kierkegård",
    "Nguyễn Thị Minh Khai",
    "José María",
    "Zoë",
    "Юлия Модестова",
    "Ελένη",
    "יִצְחָק",
    "محمّد",
    "می‌خواهم",  # Persian with a zero-width non-joiner
    "ศรีสุดา",
    "क्ष्मा",
    "ক্‌ষ",
    "ශ්‍රී",
    "김민준",
    "山田太郎",
    "葛\U000e0100城",
    "\ufa19社",
    "👩‍🚀 Ada",
    "❤️‍🔥",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "🇨🇭",
    "1️⃣",
    "O'Neill-Čapek",
    "X Æ A-12",
    "ཧྐྵྨླྺྼྻྂ",
    "x",
]


@pytest.mark.parametrize("name", STAFF)
def test_a_name_that_would_pass_for_staff_is_reserved(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("name", PEOPLE)
def test_a_name_of_a_person_is_nobodys_but_theirs(name: str) -> None:
    assert acceptable(name, (), is_staff=False) == name


def test_a_deployment_reserves_its_own_names() -> None:
    own = ("Harbour Post", "Ærø")
    for name in ("Harbour Post", "harbourpost", "Harbour Post Team", "Наrbour Post", "ærø"):
        assert is_reserved(name, own), name
    for name in ("Harbour", "Posthumus", "Harbour Posthumus", "Anna Harbour Post"):
        assert not is_reserved(name, own), name


def test_staff_may_be_called_what_they_are() -> None:
    assert acceptable("Admin", (), is_staff=True) == "Admin"
    assert acceptable("Admin", (), is_staff=False) is None


@pytest.mark.parametrize(
    "claim",
    [None, 7, ["Ann"], {"$ne": 1}, "", "  ", "\u200b", "\u3164", "x" * 101, "Z" + "\u0335" * 9],
)
def test_a_claim_that_is_no_name_is_none(claim: object) -> None:
    assert acceptable(claim, (), is_staff=True) is None


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("  Ann ", "Ann"),
        ("Ann\x00\x1b", "Ann"),
        ("\u202eAnn", "Ann"),
        ("\u2066A\u200bnn", "Ann"),
        ("Ange\u0301lique", "Ang\u00e9lique"),
        ("A\u200dnn", "Ann"),
    ],
)
def test_a_claim_is_shown_without_what_cannot_be_seen(claim: str, shown: str) -> None:
    assert acceptable(claim, (), is_staff=False) == shown


def test_no_name_takes_long_to_look_at() -> None:
    started = time.thread_time()
    for name in ("the" * 33, "modmods" * 14, "admi" * 25, "teamthe" * 14 + "x"):
        assert not is_reserved(name)
    assert time.thread_time() - started < 0.1
