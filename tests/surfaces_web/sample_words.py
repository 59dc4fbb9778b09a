"""What was said of Harbour: nodes with the day on which they were written, facts, entries of a profile, sessions."""

from __future__ import annotations

from typing import Any

__all__ = ["DECISIONS", "FACTS", "FEATURES", "GOTCHAS", "PROFILE", "QUESTIONS", "SESSIONS"]

Node = dict[str, Any]


def _node(kind: str, on: str, title: str, body: str, *anchors: str, **more: Any) -> Node:
    return {
        "kind": kind,
        "on": on,
        "title": title,
        "body": body,
        **({"anchors": list(anchors)} if anchors else {}),
        **more,
    }


def _to(predicate: str, to: str) -> dict[str, str]:
    return {"predicate": predicate, "to": to}


FEATURES: list[Node] = [
    _node(
        "feature", "01-19", "Berths",
        "Every berth has a number, a length, a beam and a depth, all in metres. The number counts from the sea.\n\n"
        "- A boat fits where all three of its measures do.\n- Nothing is rounded.",
        "src/harbour/berths/model.py", "migrations/001_berths.sql", stage="shipped", tags=["berths"],
    ),
    _node(
        "feature", "01-28", "Availability",
        "Which berths are free for a boat on a day. The answer is made anew for every question and **never cached**.",
        "src/harbour/berths/availability.py", stage="shipped", tags=["berths"],
        related=[_to("depends_on", "feature.berths")],
    ),
    _node(
        "feature", "02-06", "Holds",
        "A berth is kept for a guest while she pays. A hold ends by itself after 20 minutes; nobody has to clean up.",
        "src/harbour/booking/holds.py", "migrations/002_holds.sql", stage="shipped", tags=["booking"],
        related=[_to("depends_on", "feature.availability")],
    ),
    _node(
        "feature", "02-17", "Card payments",
        "Cards through the provider: charged when the hold is confirmed, captured on arrival.\n\n"
        "| step | when |\n| --- | --- |\n| charge | the guest pays |\n| capture | the boat is there |",
        "src/harbour/payments/gateway.py", stage="shipped", tags=["payments"],
        related=[_to("depends_on", "feature.holds")],
    ),
    _node(
        "feature", "02-26", "Mail to guests",
        "One template for each occasion; the text can be changed without a release.",
        "src/harbour/notify/", stage="shipped", tags=["notify"],
    ),
    _node(
        "feature", "03-07", "Nightly jobs",
        "Ends holds, reminds guests, closes the day for the office.", "src/harbour/jobs/", stage="shipped",
        tags=["operations"], related=[_to("affects", "feature.holds"), _to("depends_on", "feature.mail-to-guests")],
    ),
    _node(
        "feature", "03-18", "Refunds",
        "Money goes back the way it came: everything until a week before arrival, half of it afterwards.",
        "src/harbour/payments/refunds.py", "src/harbour/booking/cancel.py", stage="shipped", tags=["payments"],
        related=[_to("depends_on", "feature.card-payments"), _to("depends_on", "feature.ledger")],
    ),
    _node(
        "feature", "03-19", "Ledger",
        "Every cent is a line. Lines are only added.", "src/harbour/payments/ledger.py", stage="shipped",
        tags=["payments"],
    ),
    _node(
        "feature", "03-31", "Webhook retries",
        "What could not be delivered is tried five times; the pauses double.", "src/harbour/jobs/retry.py",
        stage="building", tags=["payments"], related=[_to("depends_on", "feature.nightly-jobs")],
    ),
    _node(
        "feature", "04-14", "Waiting list",
        "When a berth becomes free, the guest who has waited longest and whose boat fits is told first.",
        "src/harbour/booking/waitlist.py", stage="building", tags=["booking"],
        related=[_to("depends_on", "feature.mail-to-guests"), _to("affects", "feature.holds")],
    ),
    _node(
        "feature", "05-12", "Text messages",
        "A text an hour before arrival.", "src/harbour/notify/sms.py", stage="paused", tags=["notify"],
    ),
    _node(
        "feature", "06-10", "Group bookings",
        "Several boats that want to lie side by side, paid by one of them. First part: finding the row.",
        "src/harbour/booking/groups.py", stage="building", tags=["booking"],
        related=[_to("depends_on", "feature.availability"), _to("depends_on", "feature.card-payments")],
    ),
    _node(
        "feature", "06-11", "Season tickets",
        "One berth for a whole summer, paid by the month.", stage="idea", tags=["payments"],
    ),
    _node(
        "feature", "05-23", "Crane bookings",
        "The crane is booked like a berth. Waits until the office has decided on prices.", stage="paused",
        related=[_to("depends_on", "feature.availability")],
    ),
]  # fmt: skip

DECISIONS: list[Node] = [
    _node(
        "decision", "02-07", "Holds end by time, not by a job",
        "A hold knows when it ends; whoever looks at it later sees that it is over. "
        "A job that ends them would be late on the busiest day.",
        "src/harbour/booking/holds.py", tags=["booking"], related=[_to("affects", "feature.holds")],
    ),
    _node(
        "decision", "02-18", "The booking is the idempotency key",
        "Nobody pays twice for one booking, however often the button is pressed.\n\n"
        "```python\nclient.post(\"/charges\", data, idempotency_key=booking)\n```",
        "src/harbour/payments/gateway.py", tags=["payments"], related=[_to("affects", "feature.card-payments")],
    ),
    _node(
        "decision", "03-06", "Jobs run from cron", "Small and known to everybody.", "src/harbour/jobs/nightly.py",
        tags=["operations"], related=[_to("affects", "feature.nightly-jobs")],
    ),
    _node(
        "decision", "03-19", "The ledger only grows",
        "A wrong line is corrected by another one, never by an update: the office reads it every night.",
        "src/harbour/payments/ledger.py", tags=["payments"], related=[_to("affects", "feature.ledger")],
    ),
    _node(
        "decision", "05-22", "Tides come from a table",
        "The harbour master prints one table a year. No service is asked, and nothing breaks at sea.",
        "src/harbour/berths/tides.py", tags=["berths"], related=[_to("affects", "feature.availability")],
    ),
    _node(
        "decision", "05-29", "One queue in the database",
        "Workers take rows with `for update skip locked`. Two machines can never run the same job.",
        "src/harbour/jobs/queue.py", tags=["operations"],
        related=[_to("affects", "feature.nightly-jobs"), _to("affects", "feature.webhook-retries")],
    ),
]  # fmt: skip

GOTCHAS: list[Node] = [
    _node(
        "gotcha", "03-08", "Clocks of the gauges drift",
        "Sort their readings by sequence number, never by time.", "docs/operations.md", tags=["operations"],
    ),
    _node(
        "gotcha", "04-01", "Webhooks come twice",
        "The provider tells everything at least once, in any order. Whoever receives has to know what it has seen.",
        "src/harbour/payments/webhooks.py", tags=["payments"], related=[_to("affects", "feature.webhook-retries")],
    ),
    _node(
        "gotcha", "05-13", "Texts are cut at 160 characters", "The gateway cuts without a word.",
        "src/harbour/notify/sms.py", related=[_to("affects", "feature.text-messages")],
    ),
    _node(
        "gotcha", "05-14", "Numbers need a country code",
        "Without one the gateway takes the message, bills it and delivers it to nobody.", "src/harbour/notify/sms.py",
        tags=["notify"], related=[_to("affects", "feature.text-messages")],
    ),
    _node(
        "gotcha", "01-29", "Days are days of the harbour",
        "Not of the guest and not of the server: a boat from the west would arrive a day early.",
        "src/harbour/berths/availability.py", tags=["berths"], related=[_to("affects", "feature.availability")],
    ),
]  # fmt: skip

QUESTIONS: list[Node] = [
    _node(
        "question", "03-20", "Who may see a guest's phone number?",
        "The office needs it on the day of arrival, the harbour master always.", tags=["privacy"],
    ),
    _node(
        "question", "04-15", "How long may somebody wait on the list?",
        "Some guests have stood on it since April.", tags=["booking"],
        related=[_to("affects", "feature.waiting-list")],
    ),
    _node(
        "question", "06-10", "Does a group pay one bill or several?",
        "The office wants one, the guests want their own.", tags=["payments"],
        related=[_to("affects", "feature.group-bookings")],
    ),
]  # fmt: skip

FACTS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("05-30", "Architecture", "Jobs are rows of one table; a worker takes one row at a time.", ("jobs",)),
    ("05-30", "Constraints", "The worker is given 120 seconds for a job, and no job takes more than 90.", ("jobs",)),
    ("05-31", "Decisions", "Cards are charged at confirmation and captured on arrival.", ("payments",)),
    ("06-01", "Patterns & Conventions", "Money is counted in cents, as whole numbers, everywhere.", ("payments",)),
    ("06-03", "Known Issues", "The calendar shows six weeks even where five would do.", ("web",)),
    ("06-08", "Specs", "A cancelled booking gives everything back until a week before arrival.", ()),
    ("05-28", "Recent Work", "A hold lasts 15 minutes.", ("booking",)),
)

PROFILE: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("user", "name", "Mara Lind", ("--source", "user-stated")),
    ("user", "working_hours", "Mornings, Europe/Stockholm", ("--source", "user-stated", "--importance", "6")),
    ("assistant", "answer_style", "Short answers first, reasons after.", ("--tag", "style")),
    ("project", "python_version", "Python 3.12, nothing older is supported.", ("--source", "codebase")),
    ("tools", "package_manager", "uv, never pip", ("--tag", "user-preference", "--importance", "8")),
    ("learnings", "slow_suite", "The browser tests need two cores.", ("--confidence", "0.6", "--tag", "ci")),
    ("relationships", "review", "Jonas reviews everything that touches money.", ()),
)

SESSIONS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "5f0c2a7e-9b1d-4c3e-8a6f-1d2e3f4a5b6c",
        "06-09",
        (
            ("user", "Guests of a group want to lie side by side. Please look at how berths are chosen."),
            ("assistant", "The best berth is chosen alone. GOTCHA: Numbers of berths have gaps where piers end."),
            ("user", "We decided to look for rows of berths first, because a group that is split does not book."),
            ("assistant", "Agreed. DECISION: Rows of berths are searched first.\nNEXT: Write the test for two piers."),
            ("user", "We decided to let one guest pay for the whole group, because the office wants one bill."),
            ("assistant", "Agreed.\nNEXT: Ask the office how deposits of a group are returned."),
        ),
    ),
    (
        "7a91b3c4-2f6e-4d58-9c0b-6e5d4c3b2a19",
        "06-11",
        (
            ("user", "The waiting list told a guest whose boat did not fit. Please find out why."),
            ("assistant", "The list compares lengths only. GOTCHA: A catamaran is short and wide."),
            ("user", "I prefer pytest over unittest, always use pytest here."),
            (
                "assistant",
                "Noted.\nDECISION: The waiting list compares length, beam and draught.\nNEXT: Compare beams.",
            ),
            ("user", "We decided to keep guests on the waiting list for 30 days, because older wishes are stale."),
            ("assistant", "Agreed."),
        ),
    ),
)
