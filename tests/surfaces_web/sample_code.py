"""The code of Harbour, a service that books berths: its files, and how they came to be, commit by commit."""

from __future__ import annotations

__all__ = ["COMMITS", "Step"]

Step = tuple[str, str, dict[str, str | None]]
"""When, what the commit says, and the files it writes; None takes a file away."""

_README = """# Harbour

Books berths for guests of small marinas: what is free, for which boat, on which tide, and what it costs.
"""
_APP = '''"""The service: routes, and what they need."""

from harbour.booking import api
from harbour.config import Config


def create(config: Config) -> "App":
    app = App(config)
    app.mount("/bookings", api.routes(config))
    return app
'''
_CONFIG = '''"""What can be set from outside."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    database: str
    hold_minutes: int = 20
    currency: str = "EUR"
    worker_timeout: int = 120
'''
_MODEL = '''"""Berths and boats, in metres."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Berth:
    number: int
    length: float
    beam: float
    depth: float


@dataclass(frozen=True)
class Boat:
    length: float
    beam: float
    draught: float


def fits(berth: Berth, boat: Boat) -> bool:
    return boat.length <= berth.length and boat.beam <= berth.beam and boat.draught <= berth.depth
'''
_AVAILABILITY = '''"""Which berths are free on which day."""

from datetime import date

from harbour.berths.model import Berth, Boat, fits


def free(berths: list[Berth], taken: dict[int, set[date]], boat: Boat, day: date) -> list[Berth]:
    return [berth for berth in berths if fits(berth, boat) and day not in taken.get(berth.number, set())]
'''
_WITH_TIDES = '''"""Which berths are free on which day, and reachable on its tides."""

from datetime import date

from harbour.berths.model import Berth, Boat, fits
from harbour.berths.tides import lowest


def free(berths: list[Berth], taken: dict[int, set[date]], boat: Boat, day: date) -> list[Berth]:
    low = lowest(day)
    deep = [berth for berth in berths if berth.depth + low >= boat.draught]
    return [berth for berth in deep if fits(berth, boat) and day not in taken.get(berth.number, set())]
'''
_TIDES = '''"""The lowest water of a day, from the table of the harbour master."""

from datetime import date

TABLE = {1: -0.4, 2: -0.3, 3: -0.5, 4: -0.2}


def lowest(day: date) -> float:
    return TABLE[1 + day.timetuple().tm_yday % 4]
'''
_ASSIGN = '''"""The berth that wastes the least room."""

from harbour.berths.model import Berth, Boat


def best(free: list[Berth], boat: Boat) -> Berth | None:
    return min(free, key=lambda berth: (berth.length - boat.length, berth.number), default=None)
'''
_API = '''"""Bookings over HTTP."""

from harbour.booking import cancel, confirm, holds


def routes(config):
    return {
        "POST /holds": holds.place,
        "POST /holds/{id}/confirm": confirm.confirm,
        "DELETE /bookings/{id}": cancel.cancel,
    }
'''
_HOLDS = '''"""A berth is kept for a guest while she pays; a hold ends by itself."""

from datetime import datetime, timedelta

MINUTES = 20


def place(berth: int, guest: str, now: datetime) -> dict:
    return {"berth": berth, "guest": guest, "until": now + timedelta(minutes=MINUTES)}


def is_over(hold: dict, now: datetime) -> bool:
    return now >= hold["until"]
'''
_CONFIRM = '''"""A hold becomes a booking when it is paid."""


def confirm(hold: dict, payment: dict) -> dict:
    if payment["state"] != "captured":
        raise ValueError("not paid yet")
    return {"berth": hold["berth"], "guest": hold["guest"], "payment": payment["id"]}
'''
_CANCEL = '''"""Cancelling: free until a week before, half of it afterwards."""

from datetime import date


def share_back(arrival: date, today: date) -> float:
    return 1.0 if (arrival - today).days >= 7 else 0.5


def cancel(booking: dict, today: date) -> dict:
    return {**booking, "cancelled": True, "back": share_back(booking["arrival"], today)}
'''
_WAITLIST = '''"""Who is told first when a berth becomes free."""


def next_guest(waiting: list[dict], berth: dict) -> dict | None:
    fitting = [one for one in waiting if one["length"] <= berth["length"]]
    return min(fitting, key=lambda one: one["since"], default=None)
'''
_GATEWAY = '''"""Cards, through the provider. The key of a request is the booking, so that nobody pays twice."""


def charge(client, booking: str, cents: int, currency: str) -> dict:
    return client.post("/charges", {"amount": cents, "currency": currency}, idempotency_key=booking)


def capture(client, charge: str) -> dict:
    return client.post(f"/charges/{charge}/capture", {})
'''
_LEDGER = '''"""Money is only ever added to the ledger: a correction is another line."""


def book(lines: list[dict], account: str, cents: int, why: str) -> list[dict]:
    return [*lines, {"account": account, "cents": cents, "why": why}]


def balance(lines: list[dict], account: str) -> int:
    return sum(line["cents"] for line in lines if line["account"] == account)
'''
_REFUNDS = '''"""Money back, by the same way it came."""

from harbour.payments import ledger


def refund(lines: list[dict], booking: str, cents: int) -> list[dict]:
    return ledger.book(lines, f"guest:{booking}", -cents, "refund")
'''
_WEBHOOKS = '''"""What the provider tells us later. It tells everything at least once, in any order."""

SEEN: set[str] = set()


def receive(event: dict) -> bool:
    """Whether it is news."""
    if event["id"] in SEEN:
        return False
    SEEN.add(event["id"])
    return True
'''
_RETRY = '''"""Deliveries that failed are tried again: five times, each pause twice as long as the one before."""

ATTEMPTS = 5
FIRST_PAUSE = 30


def pauses() -> list[int]:
    return [FIRST_PAUSE * 2**number for number in range(ATTEMPTS)]


def next_pause(attempt: int) -> int | None:
    """How many seconds to wait, or None where it is given up."""
    found = pauses()
    return found[attempt] if attempt < len(found) else None


def is_final(attempt: int) -> bool:
    return next_pause(attempt) is None
'''
_QUEUE = '''"""Work that must not block a request: a table, and workers that take rows from it."""

TAKE = "update jobs set taken_at = now() where id = (select id from jobs for update skip locked limit 1)"


def take(database) -> dict | None:
    return database.one(TAKE)
'''
_NIGHTLY = '''"""What runs once a night: holds that ended, mails for tomorrow, sums for the office."""


def run(database, today) -> list[str]:
    return [job(database, today) for job in (end_holds, remind_guests, close_day)]
'''
_MAIL = '''"""Mail, one template for each occasion."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"


def confirmation(booking: dict) -> str:
    return (TEMPLATES / "confirmation.txt").read_text().format(**booking)
'''
_SMS = '''"""Text messages through a gateway that bills by the message."""


def send(gateway, number: str, text: str) -> str:
    return gateway.post("/messages", {"to": number, "text": text[:160]})["id"]
'''
_CONFIRMATION = "Dear {guest},\n\nberth {berth} is yours from {arrival}. Call channel 12 when you are near.\n"
_MAP = """/** The harbour from above: every berth, coloured by whether it is free. */
export function colour(free: boolean): string {
  return free ? "seagreen" : "silver";
}
"""
_CALENDAR = """/** Days of a month, the first one a Monday. */
export function weeks(first: Date): Date[][] {
  const start = new Date(first.getFullYear(), first.getMonth(), 1 - ((first.getDay() + 6) % 7));
  return [0, 1, 2, 3, 4, 5].map((week) => [0, 1, 2, 3, 4, 5, 6].map((day) => plus(start, 7 * week + day)));
}
"""
_CHECKOUT = """/** Pay for a hold before it ends; the clock is the server's. */
export function left(until: number, now: number): number {
  return Math.max(0, Math.round((until - now) / 1000));
}
"""
_BERTHS_SQL = "create table berths (number int primary key, length numeric, beam numeric, depth numeric);\n"
_HOLDS_SQL = "create table holds (id uuid primary key, berth int references berths, until timestamptz not null);\n"
_OPERATIONS = "# Operations\n\nThe worker is restarted by the system. Clocks of the gauges drift: sort by sequence.\n"
_TEST = """from harbour.booking.cancel import share_back


def test_a_week_before_everything_comes_back():
    assert share_back(date(2026, 5, 20), date(2026, 5, 13)) == 1.0
"""
_GROUPS = '''"""Several boats that want to lie side by side."""


def side_by_side(free: list[int], boats: int) -> list[int] | None:
    for start in free:
        row = list(range(start, start + boats))
        if set(row) <= set(free):
            return row
    return None
'''

COMMITS: tuple[Step, ...] = (
    (
        "2026-01-12T09:10:00+00:00",
        "A skeleton of the booking service",
        {
            "README.md": _README,
            "src/harbour/__init__.py": '"""Harbour."""\n',
            "src/harbour/app.py": _APP,
            "src/harbour/config.py": _CONFIG,
        },
    ),
    (
        "2026-01-19T14:02:00+00:00",
        "Berths and their sizes",
        {"src/harbour/berths/model.py": _MODEL, "migrations/001_berths.sql": _BERTHS_SQL},
    ),
    (
        "2026-01-27T10:31:00+00:00",
        "Availability by calendar day",
        {"src/harbour/berths/availability.py": _AVAILABILITY, "src/harbour/berths/assign.py": _ASSIGN},
    ),
    (
        "2026-02-05T16:20:00+00:00",
        "Holds that end by themselves",
        {
            "src/harbour/booking/holds.py": _HOLDS,
            "src/harbour/booking/api.py": _API,
            "migrations/002_holds.sql": _HOLDS_SQL,
        },
    ),
    (
        "2026-02-16T11:45:00+00:00",
        "Pay by card",
        {"src/harbour/payments/gateway.py": _GATEWAY, "src/harbour/booking/confirm.py": _CONFIRM},
    ),
    (
        "2026-02-25T09:05:00+00:00",
        "Mail for confirmed bookings",
        {"src/harbour/notify/mail.py": _MAIL, "src/harbour/notify/templates/confirmation.txt": _CONFIRMATION},
    ),
    (
        "2026-03-06T13:30:00+00:00",
        "Nightly jobs run in a queue",
        {
            "src/harbour/jobs/queue.py": _QUEUE,
            "src/harbour/jobs/nightly.py": _NIGHTLY,
            "docs/operations.md": _OPERATIONS,
        },
    ),
    (
        "2026-03-17T15:12:00+00:00",
        "Refunds, and a ledger that only grows",
        {
            "src/harbour/payments/ledger.py": _LEDGER,
            "src/harbour/payments/refunds.py": _REFUNDS,
            "src/harbour/booking/cancel.py": _CANCEL,
            "tests/test_cancel.py": _TEST,
        },
    ),
    (
        "2026-03-30T10:00:00+00:00",
        "Webhooks of the payment provider are retried",
        {"src/harbour/payments/webhooks.py": _WEBHOOKS, "src/harbour/jobs/retry.py": _RETRY},
    ),
    ("2026-04-13T12:40:00+00:00", "A waiting list", {"src/harbour/booking/waitlist.py": _WAITLIST}),
    (
        "2026-04-27T09:55:00+00:00",
        "Map, calendar and checkout in the browser",
        {"web/src/map.ts": _MAP, "web/src/calendar.ts": _CALENDAR, "web/src/checkout.ts": _CHECKOUT},
    ),
    ("2026-05-11T14:25:00+00:00", "Text messages through a gateway", {"src/harbour/notify/sms.py": _SMS}),
    (
        "2026-05-22T11:18:00+00:00",
        "Availability knows the tides",
        {"src/harbour/berths/tides.py": _TIDES, "src/harbour/berths/availability.py": _WITH_TIDES},
    ),
    (
        "2026-05-29T16:47:00+00:00",
        "Retries belong to payments",
        {"src/harbour/jobs/retry.py": None, "src/harbour/payments/retry.py": _RETRY},
    ),
    ("2026-06-04T10:09:00+00:00", "No more text messages", {"src/harbour/notify/sms.py": None}),
    ("2026-06-10T15:33:00+00:00", "Group bookings, first part", {"src/harbour/booking/groups.py": _GROUPS}),
)
