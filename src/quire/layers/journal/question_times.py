"""Find the time that a question about changes names, in words or as a date."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, time, timedelta

import msgspec

from quire.layers.journal.question_modes import folded
from quire.model.times import instant

# Without accents, Monday first: English, German, French, Spanish, Portuguese.
_WEEKDAYS = (
    ("monday", "montag", "lundi", "lunes", "segunda"),
    ("tuesday", "dienstag", "mardi", "martes", "terca"),
    ("wednesday", "mittwoch", "mercredi", "miercoles", "quarta"),
    ("thursday", "donnerstag", "jeudi", "jueves", "quinta"),
    ("friday", "freitag", "vendredi", "viernes", "sexta"),
    ("saturday", "samstag", "samedi", "sabado"),
    ("sunday", "sonntag", "dimanche", "domingo"),
)
_DAYS_BACK = {
    0: "today|heute|aujourd'hui|hoy|hoje|今天|今日",
    1: "yesterday|gestern|(?<=depuis )hier|ayer|ontem|昨天|昨日",
    7: "last week|letzter? woche|(?:la )?semaine derniere|(?:la )?semana pasada|(?:a )?semana passada|上[周週]|先週",
    30: "last month|letzten monat|(?:le )?mois dernier|(?:el )?mes pasado|(?:o )?mes passado|上个月|上個月|先月",
}
_UNITS = {
    "hour": "hours?|stunden?|heures?|horas?|小时|小時|時間",
    "day": "days?|tage?n?|jours?|dias?|天|日",
    "week": "weeks?|wochen?|semaines?|semanas?|周|週間?|星期",
    "month": "months?|monate?n?|mois|mes(?:es)?|个月|個月|ヶ月|か月",
}
_LENGTHS = {"hour": 1, "day": 24, "week": 7 * 24, "month": 30 * 24}
_DATE = re.compile(
    r"(?<![\w-])(\d{4}-\d{2}-\d{2}(?:t\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:\d{2})?)?)(?![\w-])"
)
_LEAD = "last|past|previous|since|vor|letzten?|seit|il y a|derniere?s?|depuis|hace|ultim[oa]s?|ha|过去|過去|最近|ここ"
_TAIL = "ago|atras|以前|前|以来|以內|以内|内"
_AMOUNT = re.compile(
    rf"(?:(?<![a-z])(?P<lead>{_LEAD})\s*)?(?<![\d.])(?P<number>\d{{1,3}})\s*"
    rf"(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _UNITS.items())})(?![a-z0-9])(?:\s*(?P<tail>{_TAIL}))?"
)
_WEEKDAY = re.compile(
    "(?<![a-z])(?:since|on|last|seit|am|letzten|depuis|desde)(?: (?:last|letztem|le|el|o|a))? (?:"
    + "|".join(f"(?P<d{day}>{'|'.join(names)})" for day, names in enumerate(_WEEKDAYS))
    + ")(?:-feira)?(?![a-z])"
)
_BACK = re.compile("|".join(f"(?<![a-z])(?P<b{days}>{words})(?![a-z])" for days, words in _DAYS_BACK.items()))


class Since(msgspec.Struct, frozen=True):
    """A moment, and the question without the words that name it."""

    moment: datetime | None
    rest: str


def since_when(question: str, now: datetime) -> Since:
    """The moment that a question names, if it names one. A day begins at midnight, where `now` is."""
    question = unicodedata.normalize("NFC", question)
    text = folded(question)
    for pattern, moment_in in ((_DATE, _date), (_AMOUNT, _amount), (_WEEKDAY, _weekday), (_BACK, _back)):
        for found in pattern.finditer(text):
            moment = moment_in(found, now)
            if moment is not None:
                return Since(moment, f"{question[: found.start()]} {question[found.end() :]}")
    return Since(None, question)


def _date(found: re.Match[str], now: datetime) -> datetime | None:
    written = found[1].upper()
    moment = instant(written)
    if moment is not None and len(written) <= len("2026-03-02T11:19:00") and "Z" not in written:
        moment = moment.replace(tzinfo=now.tzinfo)
    return moment


def _amount(found: re.Match[str], now: datetime) -> datetime | None:
    if not found["lead"] and not found["tail"]:
        return None  # `the 30 day retention` is no time ago
    unit = next(name for name in _UNITS if found[name])
    return now - timedelta(hours=int(found["number"]) * _LENGTHS[unit])


def _weekday(found: re.Match[str], now: datetime) -> datetime | None:
    day = next(day for day in range(len(_WEEKDAYS)) if found[f"d{day}"])
    # Asked on a Monday, `since Monday` is a week and no moment ago.
    back = (now.weekday() - day) % 7 or 7
    return _midnight(now, back)


def _back(found: re.Match[str], now: datetime) -> datetime | None:
    days = next(days for days in _DAYS_BACK if found[f"b{days}"])
    return _midnight(now, days)


def _midnight(now: datetime, days: int) -> datetime:
    return datetime.combine((now - timedelta(days=days)).date(), time(), now.tzinfo)
