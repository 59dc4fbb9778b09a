"""Probes: short talks, each with what a person would keep of it.

They were written before the rules were held against them, and the rules were then changed while looking at them: what
they show is that nothing of it got lost, not how well the rules do on what nobody has seen.
In a talk, `U:` is the user, `A:` the agent, `E:` an edited file, `P:` a command that passed and `F:` one that failed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from signal_hearing import agent, edits, runs, user

# The benchmarks are not installed; they are found beside the tests.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import signals
from cases import each
from quire.capture.signals.extraction import extract
from quire.capture.transcripts.types import Turn

DECISIONS = [
    (
        "U: we need full text search in the wiki\n"
        "A: SQLite has FTS5 built in, Typesense would be a second service. FTS5 is plenty for 4,000 pages.\n"
        "U: cool, fts5 it'll be\nE: wiki/search.py\nA: Search works and ranks titles first.",
        "FTS5 for full text search (4,000 pages)",
    ),
    (
        "U: add avatars. store them in the bucket we already have, not in the database\nE: app/avatars.py\n"
        "A: Avatars can be uploaded and are shown in the header.",
        "Store avatars in the bucket we already have, not in the database",
    ),
    (
        "U: the export job needs a date range\n"
        "A: Do you want the end date to be inclusive or exclusive?\nU: exclusive, like everywhere else in the api\n"
        "E: jobs/export.py\nA: The job takes --from and --to.",
        "The end date is exclusive, like everywhere else in the API",
    ),
    (
        "U: how do we version the schema?\n"
        "A: I'd lean towards plain SQL files with a number in front, applied in order; an ORM's autogenerate would miss"
        " the triggers.\nU: fine by me\nE: db/001.sql\nA: The first migration is in place.",
        "Plain SQL files with a number in front, applied in order; an ORM's autogenerate would miss the triggers",
    ),
    (
        "U: logs are full of personal data\nA: I can mask e-mail addresses in the formatter.\n"
        "U: mask phone numbers as well, and don't log request bodies any more\n"
        "A: Sure thing: e-mail addresses and phone numbers are masked in the formatter, request bodies are not"
        " logged.\n"
        "E: app/logging.py",
        "E-mail addresses and phone numbers are masked in the formatter, request bodies are not logged",
    ),
    (
        "U: the retry storm took the partner api down\nA: Each client retries five times without a pause.\n"
        "U: cap it at two tries with jitter\nE: client/retry.py\nA: Two tries, with jitter, everywhere now.",
        "Cap retries at two tries with jitter",
    ),
    (
        "U: get the bundle below 300 kB\nP: npm run build\n"
        "A: moment is 70 kB of it. I replaced it with date-fns, because only the functions we import end up in the"
        " bundle.\nE: src/dates.ts",
        "Replaced moment with date-fns, because only the functions we import end up in the bundle",
    ),
    (
        "U: write the importer\nA: Since the files can be 6 GB, I'm streaming them row by row rather than loading them"
        " into pandas.\nE: importer/read.py",
        "Stream the files row by row rather than loading them into pandas, since they can be 6 GB",
    ),
    (
        "U: which id do we expose?\nA: Exposing the serial id tells competitors how many orders we get. A ULID sorts by"
        " time and gives nothing away.\nU: ulid then, but keep the serial one internally\nE: orders/models.py",
        "ULID exposed, keep the serial id internally",
    ),
    (
        "U: should the cli be click or argparse?\nA: argparse would keep us free of dependencies; click reads nicer.\n"
        "U: no dependencies is worth more to me",
        "argparse for the CLI: no dependencies is worth more",
    ),
    (
        "U: my plan is to squash all 140 migrations. objections?\nA: None, as long as every environment is past 0140.\n"
        "U: they are. squash then\nA: Squashing into one initial migration.\nE: db/migrations/0001_initial.py",
        "Squash all 140 migrations into one initial migration",
    ),
    (
        "U: the flag service is down again, decouple us\n"
        "A: We can bake defaults into the build and refresh them every ten minutes in the background.\n"
        "U: i like that. ten minutes is too long though, make it one\n"
        "A: Defaults are baked into the build and refreshed every minute in the background.\nE: flags/client.go",
        "Defaults are baked into the build and refreshed every minute in the background",
    ),
    (
        "U: do we support python 3.8?\nA: It is end of life since October 2024 and keeps us from using match.\n"
        "U: then 3.8 is out. minimum is 3.10\nE: pyproject.toml",
        "Python 3.8 is out, minimum is 3.10",
    ),
    (
        "U: review my plan: one table per tenant\n"
        "A: I would advise against it: 3,000 tables make every migration an hour long. Row level security does"
        " the job.\n"
        "U: you convinced me\nE: db/policies.sql\nA: Policies are in place for all nine tables.",
        "Row level security, no table per tenant: 3,000 tables make every migration an hour long",
    ),
    (
        "U: Wir brauchen eine Volltextsuche.\nA: Mit Postgres geht das ohne neuen Dienst, Elastic wäre mächtiger.\n"
        "U: Postgres reicht uns.\nA: Alles klar, die Suche läuft über Postgres, ohne neuen Dienst.\nE: src/suche.py",
        "Die Suche läuft über Postgres, ohne neuen Dienst",
    ),
    (
        "U: ¿Guardamos los ficheros en disco o en S3?\nA: En S3 sobreviven a un despliegue; en disco, no.\n"
        "U: S3 entonces, en el bucket de adjuntos\nE: app/files.py",
        "Guardar los ficheros en S3, en el bucket de adjuntos",
    ),
    (
        "U: On fait comment pour les jours fériés ?\n"
        "A: Je propose de lire le fichier officiel une fois par an et de le garder dans le dépôt.\n"
        "U: d'accord, faisons comme ça\nE: data/feries.json\nA: Le fichier est dans le dépôt.",
        "Lire le fichier officiel une fois par an et le garder dans le dépôt",
    ),
    (
        "U: 缓存放 Redis 还是本地？\nA: 只有一个实例，本地内存就够了，Redis 还要多维护一个服务。\n"
        "U: 那就本地内存\nE: app/cache.py\nA: 缓存改好了。",
        "缓存放本地内存，不用 Redis",
    ),
    (
        "U: make the tests faster\nA: Half of the time goes into creating the database for each test.\n"
        "U: one database per worker is enough, roll back after each test\nE: tests/conftest.py\n"
        "A: The suite takes 40 seconds now.",
        "One database per worker, roll back after each test",
    ),
    (
        "U: add rate limiting\n"
        "A: Sliding window or token bucket? The bucket allows bursts, the window is stricter.\nU: bursts are ok\n"
        "A: Token bucket it is, with bursts of 20.\nE: gateway/limit.rs",
        "Token bucket with bursts of 20",
    ),
    (
        "U: the css is a mess. clean it up but don't introduce tailwind\nE: web/app.css\n"
        "A: Dead rules are gone, 40 % less CSS.",
        "Don't introduce tailwind",
    ),
    (
        "U: split the api into its own repo?\n"
        "A: It would double the release work, and both always change together. I'd rather not.\n"
        "U: ok, we stay in one repo",
        "Stay in one repo (splitting the API would double the release work)",
    ),
    (
        "U: what about the old endpoints?\nA: They get 40 calls a day, all from the legacy app.\n"
        "U: deprecate them with a header and remove them in june\nE: api/v1.py",
        "Deprecate the old endpoints with a header and remove them in June",
    ),
    (
        "U: # Notes from the sync\n\nWe're dropping IE support this quarter. Charts will be drawn on canvas, SVG"
        " was too"
        " slow with 10k points.",
        "Charts will be drawn on canvas, SVG was too slow with 10k points",
    ),
    (
        "U: add a job queue\nA: The outcome of my comparison: Postgres with SKIP LOCKED wins over RabbitMQ, it needs no"
        " new service and we get transactions for free.\nE: jobs/queue.py",
        "Postgres with SKIP LOCKED over RabbitMQ: it needs no new service and we get transactions for free",
    ),
]
NO_DECISIONS = [
    "U: rename the folder\nE: src/new/a.ts\nA: Renamed. Imports are updated in 14 files.",
    "U: what would you use for charts?\nA: uPlot is small, ECharts can do more. I'd take uPlot.\nU: interesting, let me"
    " think about it",
    "U: fix the typo in the readme\nE: README.md\nA: Fixed.\nU: thanks, looks good",
    "U: can we move to pnpm?\nA: We can. It would save 2 GB in CI, but the lock file has to be regenerated.\nU:"
    " hmm, not"
    " sure the team wants that. how does yarn 4 compare?",
    "U: how does the scheduler pick jobs?\nA: It sorts by priority and takes the oldest. Ties are broken by id.\nU: got"
    " it, thanks",
    "U: the tests are red\nF: pytest => 2 failed, 30 passed\nA: I'll look at the two failures.\nE: app/a.py\nP:"
    " pytest =>"
    " 32 passed\nA: Both pass now.",
    "U: run the linter and fix what it finds\nP: ruff check . => All checks passed!\nA: Nothing to fix.",
    "U: explain the cache\nA: Entries live for 30 seconds. They are kept in a map, keyed by tenant and page.",
    "U: write a test for the parser\nE: tests/test_parser.py\nA: I added three cases: empty input, a comment, and a"
    " nested list.\nU: add one for unicode too\nE: tests/test_parser.py\nA: Added.",
    "U: open the file and tell me what it does\nA: It keeps the sessions in memory and drops them after an"
    " hour.\nU: ok",
]
GOTCHAS = [
    (
        "U: the nightly backup has been empty for a week\nP: cat backup.sh\n"
        "A: pg_dump runs as the user postgres, who lost read access to the schema when we changed owners; it"
        " exits with 0"
        " all the same.",
        "The nightly backup has been empty for a week: pg_dump runs as postgres, who lost read access to the"
        " schema when"
        " owners changed; it exits with 0 all the same",
    ),
    (
        "U: add a healthcheck to the container\nE: Dockerfile\nF: docker build . => curl: not found\n"
        "A: The distroless base has no shell and no curl, a healthcheck has to be a binary of our own.",
        "The distroless base has no shell and no curl: a healthcheck has to be a binary of our own",
    ),
    (
        "U: upgrade pydantic to v2\nF: pytest => 14 failed\n"
        "A: All 14 trace back to one thing. In v2, Optional fields are required unless they have a default.",
        "In pydantic v2, Optional fields are required unless they have a default (14 tests failed)",
    ),
    (
        "U: users in Brazil get logged out every hour\nP: rg expires src\n"
        "A: We compare the expiry in local time against a UTC timestamp. São Paulo is three hours behind, which"
        " makes every"
        " token look stale after sixty minutes.",
        "Users in Brazil get logged out every hour: the expiry in local time is compared against a UTC timestamp",
    ),
    (
        "U: make the integration tests run in parallel\nE: pytest.ini\nP: pytest -n 4 => 88 passed\n"
        "A: They run on four workers. Worth knowing: the mail fake binds port 2525, two workers on one machine"
        " clash unless"
        " MAIL_PORT is set.",
        "The mail fake binds port 2525: two workers on one machine clash unless MAIL_PORT is set",
    ),
    (
        "U: why do the sums differ by a cent?\nP: cat totals.py\n"
        "A: Rounding happens per line instead of once at the end, and Python rounds half to even while the ERP"
        " rounds half"
        " up.",
        "The sums differ by a cent: rounding happens per line instead of once at the end, and Python rounds half"
        " to even"
        " while the ERP rounds half up",
    ),
    (
        "U: set up hot reload\nE: vite.config.ts\nA: Hot reload works in the container now. It needs polling,"
        " file events"
        " don't cross the mount on macOS.",
        "Hot reload needs polling: file events don't cross the mount on macOS",
    ),
    (
        "U: deploy is stuck\nP: kubectl describe pod\n"
        "A: The pod can't be scheduled. Its memory request is 9 GB and no node has more than 8.",
        "Deploy is stuck: the memory request is 9 GB and no node has more than 8",
    ),
    (
        "U: webhooks from Stripe return 400\nP: cat app.js\n"
        "A: express.json() runs before the webhook route and replaces the raw body, but the signature is"
        " computed over the"
        " raw bytes.",
        "Webhooks from Stripe return 400: express.json() runs before the route and replaces the raw body the"
        " signature is"
        " computed over",
    ),
    (
        "U: the iOS build broke over night\nF: pod install => error\n"
        "A: CocoaPods 1.15 dropped support for Ruby 2.7 and the runner image moved to it yesterday.",
        "The iOS build broke: CocoaPods 1.15 dropped support for Ruby 2.7",
    ),
    (
        "U: pagination skips rows\nP: cat list.sql\nA: The query orders by created_at alone. Rows of one import"
        " share the"
        " same second, so their order changes from page to page.",
        "Pagination skips rows: the query orders by created_at alone; rows of one import share the same second"
        " and their"
        " order changes",
    ),
    (
        "U: turn on strict mode\nE: tsconfig.json\nP: npx tsc => ok\nA: Strict is on. Mind that `skipLibCheck`"
        " hides errors"
        " in our own .d.ts files too.",
        "skipLibCheck hides errors in our own .d.ts files too",
    ),
    (
        "U: move the cron job to the new server\nE: ops/cron\nA: Moved. The new box runs in UTC, the old one ran"
        " in Berlin"
        " time: the report now goes out an hour earlier in winter and two in summer.",
        "The new box runs in UTC, the old one in Berlin time: the report goes out an hour or two earlier",
    ),
    (
        "U: can I delete the flag use_v2?\nA: Not safely. The mobile app 4.1 still reads it at start and crashes"
        " when it is"
        " absent.",
        "The flag use_v2 can't be deleted: mobile app 4.1 still reads it at start and crashes when it is absent",
    ),
    (
        "U: speed up CI\nP: gh run view\nA: The cache never hits. Its key contains the commit hash, so every run starts"
        " cold.",
        "The CI cache never hits: its key contains the commit hash",
    ),
    (
        "U: the csv import eats the first column name\nP: xxd data.csv\n"
        "A: Excel puts a byte order mark in front, and csv.reader makes it part of the name. Opening with"
        " utf-8-sig takes"
        " care of it.",
        "The CSV import eats the first column name: Excel puts a byte order mark in front and csv.reader makes"
        " it part of"
        " the name",
    ),
    (
        "U: implement soft delete\nE: models.py\nF: pytest => IntegrityError\n"
        "A: The unique index on email still counts deleted rows. It has to become a partial index.",
        "The unique index on email still counts deleted rows: it has to become a partial index",
    ),
    (
        "U: Die Bilder laden im Safari nicht.\nP: cat server.ts\n"
        "A: Safari verlangt für Videos Range-Anfragen, und unser Proxy beantwortet sie mit 200 statt 206.",
        "Die Bilder laden im Safari nicht: Safari verlangt Range-Anfragen, unser Proxy beantwortet sie mit 200"
        " statt 206",
    ),
    (
        "U: Los correos llegan sin asunto.\nP: cat mail.py\n"
        "A: La plantilla nueva usa `title` y el código sigue pasando `subject`.",
        "Los correos llegan sin asunto: la plantilla nueva usa title y el código sigue pasando subject",
    ),
    (
        "U: La page met dix secondes à s'afficher.\nP: cat page.php\n"
        "A: Chaque vignette est redimensionnée à la volée, et rien n'est mis en cache.",
        "La page met dix secondes à s'afficher: chaque vignette est redimensionnée à la volée, rien n'est mis en cache",
    ),
    (
        "U: 定时任务每天跑两次\nP: cat cron.py\nA: 两个副本都启动了调度器，没有选主，所以每个任务都执行两遍。",
        "定时任务每天跑两次: 两个副本都启动了调度器，没有选主",
    ),
    (
        "U: ログインが時々失敗します\nP: cat auth.ts\n"
        "A: 二台のサーバーの時計が90秒ずれていて、トークンが未来のものと判定されています。",
        "ログインが時々失敗します: 二台のサーバーの時計が90秒ずれていて、トークンが未来のものと判定される",
    ),
    (
        "U: add the new column\nE: db/9.sql\nP: psql -f db/9.sql\nA: It's there. Heads up, the replica lags"
        " about a minute"
        " during index builds, reads right after a deploy may see the old schema.",
        "The replica lags about a minute during index builds: reads right after a deploy may see the old schema",
    ),
    (
        "U: try bun instead of node\nF: bun test => segfault\nA: bun doesn't implement `worker.resourceLimits`;"
        " the pool"
        " passes it and the process dies without a message.",
        "bun doesn't implement worker.resourceLimits: the pool passes it and the process dies without a message",
    ),
    (
        "U: fix the flaky login test\nF: npx playwright test => 1 failed\n"
        "A: The click lands while the animation still moves the button. I'm waiting for the transition to end.\n"
        "E: tests/login.spec.ts\nP: npx playwright test => 12 passed",
        "Flaky login test: the click lands while the animation still moves the button",
    ),
]
NO_GOTCHAS = [
    "U: add a dark mode\nE: src/theme.ts\nA: Dark mode follows the system setting. The toggle is in the header.",
    "U: run the tests\nF: npm test => 1 failed\nA: One test fails. Let me look at it.\nE: a.ts\nP: npm test => 9 passed"
    "\nA: All green.",
    "U: how are errors handled in the gateway?\nA: Each handler returns an error, and the middleware turns it into a"
    " status code. Unknown errors become 500.",
    "U: write docs for the failing-over procedure\nE: docs/failover.md\nA: The page describes who does what, and links"
    " to the dashboards.",
    "U: port this to Go\nE: main.go\nA: Ported. The tests cover the same cases as before.",
    "U: rename errors.py to faults.py\nE: faults.py\nA: Renamed, and the imports in nine files follow.",
    "U: the page is slow\nA: I'll profile it first. Could be the database, could be the template.",
    "U: which database should we take?\nA: Postgres, unless you need to run on a phone. SQLite has no server to run.",
]
STEPS = [
    (
        "U: add csv export\nE: export.py\nA: Export works for orders. Invoices would be the natural continuation, they"
        " still go through the old path in billing/export.py.",
        "NEXT: Invoices still go through the old path in billing/export.py",
    ),
    (
        "U: fix the login\nE: login.ts\nA: Fixed and tested. One loose end: the password reset page has the same bug.",
        "NEXT: The password reset page has the same bug",
    ),
    (
        "U: migrate the users\nE: m.py\nA: The first 10,000 are through.\n\nNot covered so far:\n- service accounts\n"
        "- users without an e-mail address",
        "NEXT: service accounts || NEXT: users without an e-mail address",
    ),
    (
        "U: add metrics\nE: m.go\nA: Metrics are exported at /metrics. Prometheus doesn't scrape it until"
        " somebody adds the"
        " job to ops/prometheus.yml.",
        "NEXT: Add the job to ops/prometheus.yml so Prometheus scrapes /metrics",
    ),
    (
        "U: clean up the build\nE: Makefile\nA: The build takes two minutes less. We should also get rid of the"
        " vendored"
        " OpenSSL at some point.\nU: agreed, next sprint",
        "NEXT: Get rid of the vendored OpenSSL, next sprint",
    ),
    (
        "U: implement refunds\nE: refund.py\nA: Refunds work for cards. I left out PayPal because the sandbox"
        " account is"
        " locked; once it is open again, payments/paypal.py needs the same method.",
        "NEXT: payments/paypal.py needs the same method once the PayPal sandbox account is open again",
    ),
    (
        "U: add the endpoint\nE: api.py\nA: Done.\n\nBefore this can go live, the new scope has to be registered"
        " with the"
        " identity team.",
        "NEXT: The new scope has to be registered with the identity team before this can go live",
    ),
    (
        "U: upgrade rails\nE: Gemfile\nP: bundle exec rspec => 900 examples, 0 failures\nA: On 7.1, all specs pass. 14"
        " deprecation warnings remain, mostly in app/mailers.",
        "NEXT: 14 deprecation warnings remain, mostly in app/mailers",
    ),
    (
        "U: speed up the dashboard\nE: q.sql\nA: Down to 300 ms.\nU: nice. remind me to drop the old index when"
        " we deploy",
        "NEXT: Drop the old index when we deploy",
    ),
    (
        "U: write the parser\nE: p.rs\nA: Comments and strings parse. Heredocs don't, I ran out of time"
        " there.\nU: ok we'll"
        " pick that up on thursday",
        "NEXT: Heredocs don't parse, pick that up on Thursday",
    ),
    (
        "U: set up the staging cluster\nE: k8s/a.yaml\nA: The cluster is up. Waiting for the DNS entry from the"
        " network team"
        " before certificates can be issued.",
        "NEXT: Waiting for the DNS entry from the network team before certificates can be issued",
    ),
    (
        "U: add translations\nE: de.json\nA: German and French are complete. Spanish has 40 strings to go.",
        "NEXT: Spanish has 40 strings to go",
    ),
    (
        "U: port the tests to vitest\nE: a.test.ts\nA: 60 of 84 files are ported; the remaining 24 use jest.mock"
        " in ways"
        " that need a closer look.",
        "NEXT: The remaining 24 files use jest.mock in ways that need a closer look",
    ),
    (
        "U: fix the memory leak\nE: pool.c\nA: The leak is fixed. To be on the safe side, somebody ought to run"
        " it under"
        " valgrind for a night.",
        "NEXT: Run it under valgrind for a night",
    ),
    (
        "U: build the settings page\nE: s.tsx\nA: The page is there. What I'd tackle after this: validation of"
        " the webhook"
        " URL.",
        "NEXT: Validation of the webhook URL",
    ),
    (
        "U: make the cli quiet\nE: cli.py\nA: -q works.\nU: good. the --json flag can wait until after the release",
        "NEXT: the --json flag can wait until after the release",
    ),
    (
        "U: Bau den Import um.\nE: imp.py\nA: Der Import läuft. Die Fehlermeldungen müssen noch übersetzt werden.",
        "NEXT: Die Fehlermeldungen müssen noch übersetzt werden",
    ),
    (
        "U: Añade el filtro.\nE: f.py\nA: El filtro funciona. Aún no hay pruebas para el caso vacío.",
        "NEXT: Aún no hay pruebas para el caso vacío",
    ),
    (
        "U: Ajoute la page.\nE: p.vue\nA: La page est en ligne. Reste à traduire les libellés.",
        "NEXT: traduire les libellés",
    ),
    (
        "U: 加一个导出按钮\nE: b.vue\nA: 按钮加好了。英文界面的翻译还没做。",
        "NEXT: 英文界面的翻译还没做",
    ),
    (
        "U: 検索を追加してください\nE: s.ts\nA: 検索を追加しました。インデックスの再構築は未実施です。",
        "NEXT: インデックスの再構築は未実施です",
    ),
    (
        "U: add audit logging\nE: audit.py\nA: Writes are logged. Reads aren't yet; I'd add them in"
        " audit/middleware.py.",
        "NEXT: Reads aren't logged yet: add them in audit/middleware.py",
    ),
    (
        "U: finish the wizard\nE: w.tsx\nA: Steps one to three work.\n\nTo finish it:\n1. Wire the last step to"
        " the API\n"
        "2. Show a summary",
        "NEXT: Wire the last step to the API || NEXT: Show a summary",
    ),
    (
        "U: check the licences\nP: license-checker\nA: All fine except for one GPL package, `readline-sync`. It"
        " should be"
        " replaced before the next release.",
        "NEXT: readline-sync (GPL) should be replaced before the next release",
    ),
    (
        "U: add the webhook\nE: h.py\nA: It is in.\nU: great, tomorrow we do the signature check",
        "NEXT: The signature check, tomorrow",
    ),
]
NO_STEPS = [
    "U: add a cache\nE: c.py\nA: Next I'll wire it into the handler.\nE: h.py\nA: The cache is used by the handler.",
    "U: fix the test\nF: pytest => 1 failed\nA: An import is missing. I'm adding it.\nE: a.py\nP: pytest => 3 passed\n"
    "A: Passes.",
    "U: explain the queue\nA: A job that fails is tried again later, at most three times.",
    "U: does it handle unicode?\nA: Not yet, but I can add it. Shall I?\nU: no need",
    "U: deploy it\nP: make deploy\nA: Deployed. Nothing is left to do on your side.",
    "U: look at the todo list component\nA: It renders the open items first and the finished ones below.",
    "U: add a spinner\nE: s.tsx\nA: The spinner is shown while the list is still loading.",
    "U: clean up\nE: a.py\nA: Removed the dead code. There is nothing else that needs attention.",
]


def talk(text: str) -> list[Turn]:
    """The turns of a talk."""
    turns: list[Turn] = []
    for part in text.replace("\nU: ", "\0U: ").replace("\nA: ", "\0A: ").split("\0"):
        first, *rest = part.split("\n")
        said = [first]
        for line in rest:
            if line[:3] in ("E: ", "P: ", "F: "):
                turns += _spoken("\n".join(said))
                said = []
                command, _, output = line[3:].partition(" => ")
                turns += [edits(line[3:])] if line[0] == "E" else runs(command, output or "ok", failed=line[0] == "F")
            else:
                said.append(line)
        turns += _spoken("\n".join(said))
    return turns


def _spoken(text: str) -> list[Turn]:
    if not text.strip():
        return []
    return [user(text[3:]) if text.startswith("U: ") else agent(text[3:])]


def results(kind: str, probes: list[tuple[str, str]]) -> list[tuple[bool, str, list[str]]]:
    """Of each probe whether its label was found, the label, and what else was found."""
    out = []
    for text, label in probes:
        found = list(getattr(extract(talk(text)).signals, kind))
        verdict = signals._matched(kind, found, label.split(" || "))
        out.append((not verdict.missed, label, verdict.wrong))
    return out


@pytest.mark.parametrize(
    ("kind", "probes"),
    [("decisions", DECISIONS), ("gotchas", GOTCHAS), ("next_step_hints", STEPS)],
)
def test_most_of_what_a_person_would_keep_of_a_short_talk_is_found(kind: str, probes: list[tuple[str, str]]) -> None:
    told = results(kind, probes)
    missed = [label for found, label, _ in told if not found]
    wrong = [text for _, _, others in told for text in others]
    assert len(missed) <= len(probes) * 0.2, missed
    assert len(wrong) <= len(probes) * 0.2, wrong


@each(
    ("kind", "text"),
    [
        *(("decisions", text) for text in NO_DECISIONS),
        *(("gotchas", text) for text in NO_GOTCHAS),
        *(("next_step_hints", text) for text in NO_STEPS),
    ],
)
def test_talk_that_leaves_nothing_behind_leaves_nothing(kind: str, text: str) -> None:
    assert getattr(extract(talk(text)).signals, kind) == ()
