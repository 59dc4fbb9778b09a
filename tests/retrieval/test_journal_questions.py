"""A journal of sixty events, asked in many ways: what is named first, and what is called unknown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from quire.index.catalog import Index
from quire.index.open_index import open_index
from quire.layers.journal.canonical import file_bytes
from quire.layers.journal.documents import new_checkpoint, new_state, value_of
from quire.layers.journal.events import encode_event
from quire.layers.journal.source import JournalSource
from quire.layers.journal.types import JournalEvent, Maintenance, Provider, Signals
from quire.retrieval.journal.answer import JournalAnswer, answer_journal

REAL = Path(__file__).parents[3] / "shared" / "fixtures" / "journal"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the files of the other program are not here")
NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)

BUNDLE: dict[str, Any] = {
    "project": {
        "name": "quay",
        "summary": "Quay books berths for ships and sends the harbour fees.",
        "primaryEcosystem": "python",
        "packageManager": "uv",
        "workspaceManager": "none",
        "recommendedEntryFile": "AGENTS.md",
        "keyPaths": ["src/quay/app.py", "src/quay/fees"],
    },
    "projectMap": {
        "modules": [
            {"name": "berths", "path": "src/quay/berths", "responsibility": "Assigns ships to berths."},
            {"name": "fees", "path": "src/quay/fees", "responsibility": "Computes what a stay costs."},
        ],
        "entrypoints": [{"path": "src/quay/app.py", "role": "The web application."}],
        "denseSourceAreas": [{"path": "src/quay/fees", "note": "31 files"}],
        "architectureNotes": ["Every write goes through the outbox table before it reaches the message broker."],
        "firstFilesToRead": ["docs/overview.md"],
    },
    "currentFocus": {
        "summary": "Moving tariffs from code into the database.",
        "currentState": ["Container tariffs are moved, bulk tariffs are not."],
        "knownRisks": ["The tariff import has no rollback."],
        "validationSnapshot": {
            "status": "passed",
            "validatedAt": "2026-03-15T10:00:00.000Z",
            "summary": "All checks passed.",
            "results": [{"label": "tests", "command": "pytest -q", "status": "passed", "summary": "412 passed"}],
            "suggestedNextActions": ["Measure how long the nightly tariff import takes."],
        },
    },
    "gotchas": [
        {
            "title": "Tide tables are in UTC",
            "symptom": "Ships arrive an hour late in summer.",
            "cause": "The tide feed ignores daylight saving.",
            "correctPath": "Convert in src/quay/tides.py only.",
        },
        {
            "title": "Alembic migrations lock the berth table",
            "symptom": "Bookings hang during a deploy.",
            "cause": "ALTER TABLE waits for long transactions.",
            "correctPath": "Set lock_timeout before you migrate.",
        },
        {
            "title": "Broker drops messages above 256 kB",
            "symptom": "Large manifests vanish.",
            "cause": "The broker limit is silent.",
            "correctPath": "Store the manifest and send its id.",
        },
    ],
    "nextSteps": [
        {
            "title": "Move bulk tariffs into the database",
            "why": "Only container tariffs are there.",
            "start": "Open src/quay/fees/bulk.py.",
            "done": "No tariff is left in code.",
        },
        {
            "title": "Add a rollback to the tariff import",
            "why": "A bad file cannot be undone.",
            "start": "Look at import_tariffs().",
            "done": "A test restores the old tariffs.",
        },
    ],
    "validationCommands": [{"label": "tests", "command": ["pytest", "-q"], "purpose": "Runs the whole test suite."}],
}

# summary, decisions, gotchas, next step hints
SESSIONS: list[tuple[str, list[str], list[str], list[str]]] = [
    ("Chose PostgreSQL over MySQL for the booking store", ["Use PostgreSQL because of exclusion constraints"], [], []),
    ("Wrote the first berth assignment algorithm", ["Assign the smallest berth that fits the ship"], [], []),
    ("Set up continuous integration on GitLab runners", ["CI runs on two runners"], [], []),
    (
        "Added login with OpenID Connect",
        ["Sessions last eight hours"],
        ["Clock skew: tokens were refused for 30 s"],
        [],
    ),
    ("Rewrote the invoice template in Typst", ["PDF invoices are made with Typst, no longer with LaTeX"], [], []),
    (
        "Rate limiting for the public API",
        ["Sixty requests a minute for each key"],
        [],
        ["NEXT: Document the rate limits: in docs/api.md"],
    ),
    (
        "Webhook signatures",
        ["Sign webhooks with HMAC-SHA256 and a timestamp"],
        [],
        ["NEXT: Rotate webhook secrets: every quarter"],
    ),
    (
        "Investigated slow berth search",
        ["Added a GiST index on the stay period"],
        ["Planner ignores the index below 1,000 rows"],
        [],
    ),
    (
        "Switched from Celery to a small queue of our own",
        ["Jobs live in the outbox table"],
        [],
        ["NEXT: Remove Celery from the image: it is 90 MB"],
    ),
    (
        "Fixed double bookings at midnight",
        ["Stay periods are half open"],
        ["Midnight double booking: closed intervals overlap"],
        [],
    ),
    ("Anonymised passenger lists", ["Names are hashed after thirty days"], [], []),
    ("Upgraded to Python 3.12", ["Dropped Python 3.10"], [], ["DONE: Remove Celery from the image"]),
    ("Introduced feature flags", ["Flags are rows, read once a minute"], [], []),
    (
        "Moved static files to object storage",
        ["Assets are served from a bucket"],
        ["Bucket names are global: staging took ours"],
        [],
    ),
    (
        "Load test of the booking endpoint",
        ["Target is 200 bookings a second"],
        [],
        ["NEXT: Tune the connection pool: it runs dry at 150"],
    ),
    ("Backup and restore drill", ["Restore takes 14 minutes"], ["Restore needs twice the disk space"], []),
    ("Currency handling for the fees", ["Fees are integers in cents, the currency beside them"], [], []),
    ("Dark mode for the harbour master's screen", ["Colours come from CSS variables"], [], []),
    (
        "Screen reader pass over the booking form",
        ["Every field has a label"],
        [],
        ["NEXT: Test with VoiceOver: only NVDA was tried"],
    ),
    ("Email delivery through a relay", ["Bounces are written to the outbox"], ["Relay refuses long subject lines"], []),
    ("Introduced structured logging", ["Logs are JSON with a request id"], [], []),
    ("Cron jobs became systemd timers", ["The tariff import runs at 02:10"], [], []),
    ("Pinned all Docker base images by digest", ["Images are rebuilt every Monday"], [], []),
    ("Moved secrets to a vault", ["Nothing secret is in the environment files"], [], ["DONE: Rotate webhook secrets"]),
    ("GraphQL was tried and dropped", ["REST stays, GraphQL made caching hard"], [], []),
    ("Pagination by cursor", ["Lists use opaque cursors"], ["Offset pages skip rows while ships arrive"], []),
    ("Localisation into Dutch and Portuguese", ["Texts are in Fluent files"], [], []),
    ("Error budget agreed with the port authority", ["99.9 % a month"], [], []),
    (
        "Retries of the customs interface",
        ["Retry five times with jitter, then give up"],
        ["Customs answers 200 with an error inside"],
        [],
    ),
    ("Replaced the map library", ["MapLibre instead of Leaflet"], [], []),
    ("Die Gebührenberechnung rundet jetzt kaufmännisch", ["Runden erst am Ende der Rechnung"], [], []),
    (
        "Schnittstelle zum Zoll neu geschrieben",
        ["Der Zoll bekommt nur noch XML"],
        ["Zeitzone im Zollformular: immer Ortszeit"],
        [],
    ),
    (
        "Migration des données des navires",
        ["Les navires gardent leur numéro OMI"],
        ["Accents perdus: l'ancien fichier est en latin-1"],
        [],
    ),
    ("La lista de espera ya respeta la prioridad", ["Los pesqueros tienen prioridad"], [], []),
    ("A fila de espera envia avisos por SMS", ["Avisos saem dez minutos antes"], [], []),
    ("泊位分配改用贪心算法", ["优先分配最小的可用泊位"], ["潮汐数据使用协调世界时"], []),
    ("请求日志保留九十天", ["超过九十天的日志自动删除"], [], []),
    ("予約画面を作り直した", ["入力は三段階に分ける"], ["船名の全角文字で検索が失敗する"], []),
    (
        "Перенесли расчёт сборов в отдельный модуль",
        ["Сборы считаются в копейках"],
        ["Округление сборов: только в конце"],
        [],
    ),
    ("Snapshot tests for the PDF invoices", ["Compare pixels with a tolerance of two percent"], [], []),
    ("Weather warnings on the board", ["Gale warnings come from the met office feed"], [], []),
    ("Permission model for agents", ["Agents see only their own ships"], ["Admins bypass row level security"], []),
    ("Import of the vessel register", ["IMO number is the key"], ["Register has duplicate call signs"], []),
    ("Removed the legacy SOAP endpoint", ["SOAP is gone since February"], [], []),
    (
        "Cache of the tide predictions",
        ["Tide predictions are cached for six hours in Redis"],
        ["Redis evicts tide keys under memory pressure"],
        [],
    ),
    ("Health checks for the workers", ["A worker that misses three beats is replaced"], [], []),
    (
        "Worker needs a warm cache before it takes jobs",
        [],
        ["Cold worker: first jobs time out"],
        ["NEXT: Preload the tide cache: at worker start"],
    ),
    ("Blue green deployments", ["Two stacks, traffic moves in one step"], [], []),
    ("Audit log for fee changes", ["Who changed which tariff is kept for ten years"], [], []),
    ("Split the berth service from the monolith, then merged it back", ["One service is enough for us"], [], []),
    ("Flaky browser tests quarantined", ["Quarantined tests run at night"], ["Playwright waits for fonts"], []),
    ("Type checking in strict mode", ["mypy runs with --strict"], [], []),
    ("Dropped Internet Explorer", ["Browsers of the last two years"], [], []),
    ("Data retention policy", ["Bookings are kept seven years"], [], []),
    (
        "Message broker moved to RabbitMQ quorum queues",
        ["Quorum queues on three nodes"],
        [],
        ["NEXT: Alert on queue length: above 10,000"],
    ),
    ("Harbour master can override a berth", ["Overrides need a reason"], [], []),
    (
        "Container tariffs moved into the database",
        ["Tariffs are versioned by date"],
        [],
        ["NEXT: Move bulk tariffs into the database: start with ore"],
    ),
    (
        "Nightly import of tariffs",
        ["The import reads a CSV from the port authority"],
        ["CSV has a byte order mark"],
        [],
    ),
]


def session(number: int) -> JournalEvent:
    summary, decisions, gotchas, hints = SESSIONS[number - 1]
    return JournalEvent(
        id=f"evt-{number:06d}",
        kind="imported_session",
        source_id="claude",
        external_item_id=f"session-{number}",
        created_at=(BEGIN + timedelta(days=number)).isoformat(),
        content_hash="0" * 64,
        summary=summary,
        signals=Signals(decisions=tuple(decisions), gotchas=tuple(gotchas), next_step_hints=tuple(hints)),
        source_ref=f"../sessions/{number}.jsonl",
    )


def tool_run(number: int, at: str, summary: str, **signals: tuple[str, ...]) -> JournalEvent:
    return JournalEvent(
        id=f"evt-{number:06d}",
        kind="tool_run",
        source_id="agent-memory.local",
        external_item_id=None,
        created_at=at,
        content_hash="0" * 64,
        summary=summary,
        signals=Signals(**signals),
        source_ref="agent-memory:recall",
    )


def write_store(
    root: Path, bundle: dict[str, Any], events: list[JournalEvent], at: str = "2026-03-15T10:00:00.000Z"
) -> Path:
    folder = root / ".agent-memory"
    (folder / "history" / "checkpoints").mkdir(parents=True, exist_ok=True)
    provider = Provider(name="local", binary="local")
    state = new_state(bundle, provider=provider, generated_at=at, maintenance=Maintenance())
    (folder / "state.json").write_bytes(file_bytes(value_of(state)))
    (folder / "history" / "events.jsonl").write_bytes(b"".join(encode_event(event) + b"\n" for event in events))
    return root


def write_checkpoint(root: Path, number: int, at: str, event_id: str | None, summary: str) -> None:
    name = f"chk-{number:06d}"
    held = new_checkpoint(BUNDLE, checkpoint_id=name, created_at=at, event_id=event_id, summary=summary)
    place = root / ".agent-memory" / "history" / "checkpoints" / f"{name}.json"
    place.write_bytes(file_bytes(value_of(held)))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("quay")
    events = [session(number) for number in range(1, len(SESSIONS) + 1)]
    gotchas = tuple(f"{item['title']}: {item['cause']}" for item in BUNDLE["gotchas"])
    steps = tuple(f"{item['title']}: {item['start']}" for item in BUNDLE["nextSteps"])
    for number, at, said in (
        (59, "2026-03-10T10:00:00.000Z", "added gotchas: Tide tables are in UTC; updated current focus"),
        (60, "2026-03-15T10:00:00.000Z", "added next steps: Add a rollback to the tariff import"),
    ):
        summary = f"Recalled project memory for quay: {said}"
        events.append(tool_run(number, at, summary, gotchas=gotchas, next_step_hints=steps))
    write_store(root, BUNDLE, events)
    write_checkpoint(
        root,
        1,
        "2026-03-10T10:00:00.000Z",
        "evt-000059",
        "added gotchas: Tide tables are in UTC; updated current focus",
    )
    write_checkpoint(
        root, 2, "2026-03-15T10:00:00.000Z", "evt-000060", "added next steps: Add a rollback to the tariff import"
    )
    found = open_index(None, [JournalSource(str(root))])
    yield found
    found.close()


def ask(index: Index, question: str, **more: Any) -> JournalAnswer:
    return answer_journal(index, question, **{"now": NOW, **more})


def first(answer: JournalAnswer) -> str:
    return answer.citations[0].source_id if answer.sufficient else "insufficient"


QUESTIONS = {
    # Any word of it
    "Typst": "evt-000005",
    "GraphQL": "evt-000025",
    "idempotent exclusion constraints PostgreSQL": "evt-000001",
    # Plain questions
    "which database do we use for bookings and why?": "evt-000001",
    "how are webhooks signed?": "evt-000007",
    "how long do login sessions last?": "evt-000004",
    "why did we drop GraphQL?": "evt-000025",
    "how many requests per minute does the API allow?": "evt-000006",
    "how long are tide predictions cached?": "evt-000045",
    "how are retries to customs done?": "evt-000029",
    "what does the broker do with large messages?": "gotcha-3",
    "why do bookings hang during a deploy?": "gotcha-2",
    "in which timezone are the tide tables?": "gotcha-1",
    "what is this project about?": "project",
    "what goes through the outbox table before the broker?": "project-map",
    "how do I run the test suite?": "validation-commands",
    "who is allowed to override a berth?": "evt-000056",
    "how long is a restore?": "evt-000016",
    # The event reads `Worker needs a warm cache`
    "warm cache worker": "evt-000047",
    "evt-000012": "evt-000012",
    "what was done in evt-000030?": "evt-000030",
    # In other words
    "PDF generation": "evt-000005",
    "accessibility for blind users": "evt-000019",
    "how is the berth for a ship chosen?": "evt-000002",
    "what did we decide about feature flags?": "evt-000013",
    "double booking at midnight": "evt-000010",
    "where are the static assets served from?": "evt-000014",
    "which map library is used": "evt-000030",
    "when does the tariff import run?": "evt-000022",
    "how long are passenger names kept?": "evt-000011",
    "log format": "evt-000021",
    "what happens when a worker misses its heartbeats?": "evt-000046",
    "how much uptime did we promise the port authority": "evt-000028",
    "mypy": "evt-000052",
    "key of the vessel register": "evt-000043",
    "why is celery gone": "evt-000009",
    "how long do we keep bookings?": "evt-000054",
    "lock_timeout": "gotcha-2",
    "current focus": "current-focus",
    "container tariffs": "evt-000057",
    # In other languages
    "¿qué pasa con los pesqueros?": "evt-000034",
    "numéro OMI des navires": "evt-000033",
    "船名の検索": "evt-000038",
    "округление": "evt-000039",
    "Wie wird bei den Gebühren gerundet?": "evt-000031",
    "Was bekommt der Zoll?": "evt-000032",
    "¿quién tiene prioridad en la lista de espera?": "evt-000034",
    "quand partent les avis par SMS ?": "evt-000035",
    "泊位如何分配": "evt-000036",
    "日志保留多久": "evt-000037",
    "予約画面": "evt-000038",
    "расчёт сборов": "evt-000039",
    # What changed
    "what changed recently?": "chk-000002",
    "what's new with the tariffs?": "chk-000002",
    "what changed since 2026-03-14?": "chk-000002",
    "what changed about webhooks?": "evt-000024",
    "Was hat sich am Zoll geändert?": "evt-000032",
    # What next
    "what should I do next?": "next-step-1",
    "next steps for the connection pool": "evt-000015",
    "next steps around tide cache": "evt-000047",
    "todo: rollback": "next-step-2",
    "next steps for measuring the nightly import": "suggested-action-1",
    "queue length 下一步": "evt-000055",
    # What to beware of
    "what are the known traps?": "gotcha-1",
    "gotchas when migrating with alembic": "gotcha-2",
    "pitfalls with Redis": "evt-000045",
    "Welche Stolperfallen gibt es beim Zoll?": "evt-000032",
    "traps in the customs interface": "evt-000029",
    "what breaks with the CSV import?": "evt-000058",
    "pagination pitfalls": "evt-000026",
    "潮汐有什么坑": "evt-000036",
}
UNKNOWN = (
    "quantum entanglement recipe",
    "what is the weather in Paris",
    "who won the football match",
    "how do we deploy to kubernetes?",
    "what is our pricing for enterprise customers?",
    "how do I bake sourdough bread?",
    "where is the office coffee machine?",
    "which machine learning model ranks the search results?",
    "blockchain",
    "what does the Terraform module for networking create?",
    "how is the iOS app published?",
    "when does the marketing campaign start?",
    "what is the capital of Australia?",
    "why is the Haskell parser slow?",
    "how do we handle GDPR erasure requests of employees?",
    "who maintains the Elasticsearch cluster?",
    "wie wird das Wetter morgen in Berlin?",
    "quelle est la recette de la tarte aux pommes ?",
    "今天的午饭吃什么",
    "какая столица Франции",
    "how do we do A/B testing?",
    "salary bands",
    "which CDN do we use?",
    "what is the Kafka topic naming scheme?",
    "steps to reset the router",
    "how does the recommendation engine work?",
    "who is the CEO?",
    "vim keybindings",
    "¿cuál es la receta de la paella?",
    "明天会下雨吗",
)


def test_what_answers_best_is_named_first(index: Index) -> None:
    found = {question: first(ask(index, question)) for question in QUESTIONS}
    missed = {
        question: (found[question], sought) for question, sought in QUESTIONS.items() if found[question] != sought
    }
    assert len(missed) <= len(QUESTIONS) // 10, missed


def test_what_the_memory_does_not_hold_is_said_to_be_unknown(index: Index) -> None:
    guessed = [question for question in UNKNOWN if ask(index, question).sufficient]
    assert len(guessed) <= len(UNKNOWN) // 6, guessed


@pytest.mark.parametrize(
    "question",
    ["warm cache worker", "Typst", "泊位如何分配", "予約画面", "расчёт сборов", "Wie wird bei den Gebühren gerundet?"],
)
def test_what_the_original_program_refused_is_answered(index: Index, question: str) -> None:
    assert first(ask(index, question)) == QUESTIONS[question]


def test_every_event_is_found_by_its_summary(index: Index) -> None:
    """Not only the last fifty: each of them, by what it says."""
    found = [first(ask(index, f"about: {item[0]}", mode="answer")) for item in SESSIONS]
    missed = [item[0] for number, item in enumerate(SESSIONS, start=1) if found[number - 1] != f"evt-{number:06d}"]
    assert len(missed) <= len(SESSIONS) // 20, missed


# -- the stores of the other program --------------------------------------------------------

KNOWN = {
    "basic-node": {
        "how does the cache layer handle tenant keys?": "gotcha-2",
        "warm cache worker": "gotcha-3",
        "retry metrics worker": "evt-000005",
        "idempotency": "evt-000008",
        "webhooks jitter": "evt-000005",
        "orders in one table": "evt-000007",
        "what is this project?": "project",
        "what changed recently?": "chk-000005",
        "what changed since Monday?": "chk-000005",
        "what should I do next?": "next-step-2",
        "what are the known traps?": "gotcha-1",
        "traps with tenants": "gotcha-2",
        "quantum entanglement recipe": "insufficient",
    },
    "retention": {
        "rounding drifts": "gotcha-2",
        "cents": "gotcha-2",
        "add a balance check nightly": "next-step-2",
        "what are the known traps?": "gotcha-1",
        "what changed recently?": "chk-000007",
        "kubernetes": "insufficient",
    },
    "unicode": {
        "缓存键必须包含租户": "gotcha-6",
        "缓存键 租户": "gotcha-6",
        "订单列表 缓存三十秒": "evt-000004",
        "キャッシュは暖めてから": "gotcha-2",
        "кэш арендатор ключ": "gotcha-4",
        "مفتاح التخزين": "gotcha-5",
        "下一步是什么": "next-step-1",
        "what are the known traps? 陷阱": "gotcha-1",
        "what changed recently? 缓存": "chk-000002",
        "天气怎么样": "insufficient",
    },
}


@needs_real
@pytest.mark.parametrize("name", KNOWN)
def test_stores_of_the_other_program_are_answered_from(name: str) -> None:
    index = open_index(None, [JournalSource(str(REAL / name / "repo"))])
    try:
        now = datetime(2026, 3, 3, 12, tzinfo=UTC)
        found = {question: first(ask(index, question, now=now)) for question in KNOWN[name]}
    finally:
        index.close()
    assert found == KNOWN[name]


@needs_real
def test_the_recorded_questions_get_an_answer_of_the_same_kind_and_form() -> None:
    """Each question that was put to the other program, and its mode there."""
    index = open_index(None, [JournalSource(str(REAL / "basic-node" / "repo"))])
    asked = 0
    for step in json.loads((REAL / "basic-node" / "commands.json").read_text(encoding="utf-8"))["steps"]:
        if "query" not in step.get("argv", []) or "--output=json" not in step["argv"] or step["exitCode"]:
            continue
        recorded = json.loads(step["stdout"])
        answer = ask(index, step["argv"][2])
        assert answer.mode == recorded["mode"]
        assert answer.answer
        assert answer.why
        asked += 1
    index.close()
    assert asked >= 4
