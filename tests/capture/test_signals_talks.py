"""Whole talks: how much of what a person would keep is found in them, and how much of what is found is right.

The rules were changed while looking at them, like at the sessions of the development half.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from test_signals_probes import talk

# The benchmarks are not installed; they are found beside the tests.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import signals
from quire.capture.signals.extraction import extract

TALKS: list[tuple[str, list[str], list[str], list[str]]] = [
    (
        "U: uploads larger than 10 MB end in a 413 on staging, production is fine\n"
        "A: I'll compare the two environments.\n"
        "P: kubectl get ingress -o yaml\n"
        "A: The staging ingress lacks the annotation `proxy-body-size`; without it the controller falls"
        " back to 1m. Production got it by hand last year, so it isn't in the chart.\n"
        "U: put it into the chart then, with 50m for both\n"
        "E: charts/web/values.yaml\n"
        "P: helm lint charts/web => 1 chart(s) linted, 0 chart(s) failed\n"
        "A: The annotation is in the chart with 50m for both environments. After the next rollout"
        " somebody should check that the hand-made one on production is gone.",
        [
            "Put proxy-body-size into the chart, with 50m for both environments",
        ],
        [
            "Uploads larger than 10 MB end in a 413 on staging: the staging ingress lacks the annotation"
            " proxy-body-size; without it the controller falls back to 1m",
        ],
        [
            "NEXT: Check after the next rollout that the hand-made annotation on production is gone",
        ],
    ),
    (
        "U: we want feature toggles. what are our options\n"
        "A: Three come to mind:\n"
        "\n"
        "1. LaunchDarkly – polished, 300 $ a month\n"
        "2. Unleash, self-hosted\n"
        "3. A table of our own with a tiny admin page\n"
        "\n"
        "For four toggles I'd build the table.\n"
        "U: yeah, own table. cache it for a minute so we don't hit the db on every request\n"
        "A: Makes sense. A `toggles` table, read through a one-minute cache.\n"
        "E: app/toggles.py\n"
        "F: pytest tests/test_toggles.py => 1 failed, 4 passed\n"
        "A: The test flips a toggle and reads it right away, and the cache still has the old value."
        " Tests need to clear it, I've added a fixture.\n"
        "E: tests/conftest.py\n"
        "P: pytest tests/test_toggles.py => 5 passed\n"
        "A: Works. The admin page isn't there yet, toggles are edited with SQL until then.",
        [
            "A toggles table of our own, read through a one-minute cache",
        ],
        [
            "The test flips a toggle and reads it right away, and the cache still has the old value: tests"
            " need to clear it",
        ],
        [
            "NEXT: The admin page isn't there yet, toggles are edited with SQL until then",
        ],
    ),
    (
        "U: Bump React to 19\n"
        "E: package.json\n"
        "F: npm test => 9 failed, 120 passed\n"
        "A: All nine use `react-test-renderer`, which React 19 deprecates and which now renders nothing"
        " outside of act().\n"
        "U: can we move to testing library?\n"
        "A: Yes, it's about two hours of work. The alternative is to wrap every call in act, which keeps"
        " the old renderer alive.\n"
        "U: testing library. no point in keeping the old one\n"
        "E: src/a.test.tsx\n"
        "P: npm test => 129 passed\n"
        "A: All 129 pass with testing library and react-test-renderer is gone from package.json.\n"
        "U: great. storybook can follow next week",
        [
            "Testing library, no point in keeping the old renderer (react-test-renderer)",
        ],
        [
            "Nine tests fail: react-test-renderer is deprecated in React 19 and renders nothing outside of act()",
        ],
        [
            "NEXT: Storybook can follow next week",
        ],
    ),
    (
        "U: why does the worker use 4 GB?\n"
        "P: py-spy dump\n"
        "A: Each task imports torch, and Celery's prefork pool forks before the import, so nothing is"
        " shared: eight children, half a gigabyte each.\n"
        "U: ok so what do we do\n"
        "A: Importing torch in the parent before the fork brings it down to about 900 MB. Threads would"
        " be an option too, but two of our tasks aren't thread-safe.\n"
        "U: import it in the parent\n"
        "E: worker/app.py\n"
        "A: Memory is at 870 MB. One thing to be careful about: CUDA must not be initialised in the"
        " parent, or the children hang on their first call.",
        [
            "Import torch in the parent before the fork",
        ],
        [
            "The worker uses 4 GB: each task imports torch and Celery's prefork pool forks before the"
            " import, so nothing is shared",
            "CUDA must not be initialised in the parent: the children hang on their first call",
        ],
        [],
    ),
    (
        "U: write a changelog entry for 2.4\n"
        "P: git log v2.3..HEAD --oneline\n"
        "E: CHANGELOG.md\n"
        "A: I've written the entry with 14 items, grouped by area. Two commits had no ticket, I listed"
        ' them under "Other".\n'
        "U: perfect thanks",
        [],
        [],
        [],
    ),
    (
        "U: can the search accept regular expressions?\n"
        "A: Technically yes, Postgres supports `~`. But a bad pattern can run for minutes and there is"
        " no way to limit it per query except statement_timeout.\n"
        "U: hmm, then no regex. prefix search is enough for us\n"
        "E: search/query.py\n"
        "P: pytest => 77 passed\n"
        "A: Prefix search is in, with an index on `lower(name) text_pattern_ops`. A plain btree index"
        " wouldn't be used for LIKE under our collation.\n"
        "U: good to know. document that in docs/search.md at some point",
        [
            "No regex, prefix search is enough",
        ],
        [
            "A bad regex pattern can run for minutes: there is no way to limit it per query except statement_timeout",
            "A plain btree index isn't used for LIKE under our collation: an index on lower(name) text_pattern_ops",
        ],
        [
            "NEXT: Document that in docs/search.md (index with text_pattern_ops)",
        ],
    ),
    (
        "U: the android app loses its login after an update, only on Samsung\n"
        "P: adb logcat\n"
        "A: Interesting: the keystore entry is gone after the update. Samsung's backup restores our"
        " encrypted preferences but not the key, so decryption fails and we treat that as logged out.\n"
        "A: I've excluded the preferences file from backup in `res/xml/backup_rules.xml`.\n"
        "E: app/src/main/res/xml/backup_rules.xml\n"
        "P: ./gradlew test => BUILD SUCCESSFUL\n"
        "U: will that log everybody out once more?\n"
        "A: Yes, one last time for users who restore an old backup.\n"
        "U: acceptable. ship it with 5.2",
        [
            "Preferences file excluded from backup; one last logout is acceptable, ship with 5.2",
        ],
        [
            "The android app loses its login after an update on Samsung: Samsung's backup restores the"
            " encrypted preferences but not the key, so decryption fails",
        ],
        [],
    ),
    (
        "U: Die CI braucht 40 Minuten.\n"
        "P: gh run list\n"
        "A: Allein 25 Minuten gehen für das Bauen der Images drauf, weil der Layer-Cache auf den neuen"
        " Runnern leer ist.\n"
        "U: Können wir den Cache in die Registry legen?\n"
        "A: Ja, mit `--cache-to type=registry`. Das kostet etwa 3 GB Speicher.\n"
        "U: Gut, dann in die Registry.\n"
        "E: .github/workflows/ci.yml\n"
        "A: Umgestellt, der Lauf dauert jetzt 14 Minuten. Alte Cache-Einträge werden noch nicht"
        " gelöscht, dafür fehlt ein Aufräumjob.",
        [
            "Der Layer-Cache liegt in der Registry (--cache-to type=registry)",
        ],
        [
            "Die CI braucht 40 Minuten: 25 Minuten gehen für das Bauen der Images drauf, weil der"
            " Layer-Cache auf den neuen Runnern leer ist",
        ],
        [
            "NEXT: Alte Cache-Einträge werden noch nicht gelöscht, dafür fehlt ein Aufräumjob",
        ],
    ),
    (
        "U: Les exports PDF ont des pages blanches.\n"
        "P: cat export.rb\n"
        "A: Chrome ajoute une page quand le contenu dépasse d'un pixel : notre pied de page a une marge"
        " que `@page` ne compte pas.\n"
        "U: On peut passer à WeasyPrint ?\n"
        "A: On pourrait, mais les graphiques sont en JavaScript et WeasyPrint ne l'exécute pas.\n"
        "U: bon, on reste sur Chrome et on corrige la marge\n"
        "E: app/print.css\n"
        "A: Corrigé, plus de page blanche sur les douze modèles. Il faudra aussi revoir les modèles des"
        " clients, qui ont leur propre CSS.",
        [
            "On reste sur Chrome et on corrige la marge (WeasyPrint n'exécute pas JavaScript)",
        ],
        [
            "Les exports PDF ont des pages blanches: Chrome ajoute une page quand le contenu dépasse d'un"
            " pixel, le pied de page a une marge que @page ne compte pas",
        ],
        [
            "NEXT: revoir les modèles des clients, qui ont leur propre CSS",
        ],
    ),
    (
        "U: 接口偶尔返回旧数据\n"
        "P: cat cache.go\n"
        "A: 写入后只删了本机的缓存，其他实例要等五分钟才过期。\n"
        "U: 能不能缩短到十秒？\n"
        "A: 可以，但数据库压力会大。更好的办法是用 Redis 发布订阅通知其他实例。\n"
        "U: 用发布订阅吧\n"
        "A: 好的，写入后通过 Redis 发布订阅让所有实例删除缓存。\n"
        "E: cache/cache.go\n"
        "P: go test ./... => ok\n"
        "A: 测试通过。断线重连还没有处理，断线期间的通知会丢。",
        [
            "写入后通过 Redis 发布订阅让所有实例删除缓存",
        ],
        [
            "接口偶尔返回旧数据: 写入后只删了本机的缓存，其他实例要等五分钟才过期",
        ],
        [
            "NEXT: 断线重连还没有处理，断线期间的通知会丢",
        ],
    ),
    (
        "U: add pagination to the audit log. cursor based please, offsets are too slow there\n"
        "E: api/audit.ts\n"
        "P: pnpm test => 61 passed\n"
        "A: Done: `GET /audit?after=<cursor>` returns 50 entries and the next cursor. Cursors are"
        " opaque, so we can change what is inside later.\n"
        "U: what's in there now?\n"
        "A: The timestamp and the id, base64-encoded. The timestamp alone isn't unique.\n"
        "U: alright. next: the same for /events",
        [
            "Cursor based pagination for the audit log, offsets are too slow there",
        ],
        [],
        [
            "NEXT: the same (cursor pagination) for /events",
        ],
    ),
    (
        "U: # Friday wrap-up\n"
        "\n"
        "Moved the importer to asyncio with Lea. We settled on httpx over aiohttp, mainly for HTTP/2."
        " The vendor API answers 429 without a Retry-After header, so we back off on our own (start at 2"
        " s). Beware of the sandbox: it returns dates in US format, production doesn't.\n"
        "\n"
        "Left for Monday: cancel running downloads on shutdown. Tests for the backoff are written.",
        [
            "httpx over aiohttp, mainly for HTTP/2",
        ],
        [
            "The vendor API answers 429 without a Retry-After header: we back off on our own (start at 2 s)",
            "The sandbox returns dates in US format, production doesn't",
        ],
        [
            "NEXT: Cancel running downloads on shutdown",
        ],
    ),
    (
        "U: our staging database fills up every two days, can you see what's eating the space\n"
        'P: psql -c "select pg_size_pretty(...)"\n'
        "A: 38 GB are WAL files. A replication slot called `old_bi` is still registered, and Postgres"
        " keeps WAL until its consumer comes back. Nobody has connected to it since March.\n"
        "U: kill it\n"
        "P: psql -c \"select pg_drop_replication_slot('old_bi')\"\n"
        "A: Dropped, 37 GB are free again. I recommend setting `max_slot_wal_keep_size` so that a dead"
        " slot can't fill the disk again.\n"
        "U: yes, 5 GB\n"
        "E: infra/postgres.conf\n"
        "A: Set to 5 GB; it takes effect with a reload. The production config in infra/prod.conf has the"
        " same gap.",
        [
            "Set max_slot_wal_keep_size to 5 GB so that a dead slot can't fill the disk again",
        ],
        [
            "The staging database fills up every two days: a replication slot old_bi is still registered,"
            " and Postgres keeps WAL until its consumer comes back",
        ],
        [
            "NEXT: The production config in infra/prod.conf has the same gap",
        ],
    ),
    (
        "U: port the auth middleware from express to fastify\n"
        "P: cat src/auth.ts\n"
        "E: src/auth.ts\n"
        "F: npx vitest run => Tests  3 failed | 40 passed (43)\n"
        "A: Fastify runs `onRequest` hooks before the body is parsed, and our signature check reads"
        " `req.body`. Moving it to `preHandler` solves that.\n"
        "E: src/auth.ts\n"
        "P: npx vitest run => Tests  43 passed (43)\n"
        "A: Ported. I decided to keep the cookie names, otherwise everybody would have to log in again.\n"
        "U: good thinking. can we get rid of the express adapter?\n"
        "A: Not until the admin routes are moved; they're the last ones on express.\n"
        "U: ok, admin routes are for the next PR",
        [
            "Keep the cookie names, otherwise everybody would have to log in again",
        ],
        [
            "Three tests fail: Fastify runs onRequest hooks before the body is parsed, and our signature"
            " check reads req.body",
        ],
        [
            "NEXT: Move the admin routes, the last ones on express, in the next PR",
        ],
    ),
    (
        "U: is there a reason we don't use connection pooling?\n"
        "A: Looking at the git history, PgBouncer was removed in 2023 because prepared statements broke"
        " in transaction mode. PgBouncer 1.21 supports them.\n"
        "U: let's bring it back then. transaction mode, 20 connections\n"
        "A: On it.\n"
        "E: docker-compose.yml\n"
        "P: make test => 310 passed\n"
        "A: PgBouncer 1.22 runs in transaction mode with 20 server connections. Advisory locks don't"
        " work across statements in this mode, the scheduler therefore connects to Postgres directly.\n"
        "A: Still to be done: the same in the helm chart.",
        [
            "PgBouncer comes back in transaction mode with 20 connections",
        ],
        [
            "Advisory locks don't work across statements in transaction mode: the scheduler therefore"
            " connects to Postgres directly",
        ],
        [
            "NEXT: the same (PgBouncer) in the helm chart",
        ],
    ),
    (
        "U: tidy up the imports in src/\n"
        "P: npx eslint src --fix\n"
        "A: Done, 31 files changed.\n"
        "U: commit it\n"
        'P: git commit -am "Sort imports"\n'
        "A: Committed as 4fe2a1c.",
        [],
        [],
        [],
    ),
    (
        'U: I get "too many open files" when I run the crawler for more than an hour\n'
        "P: lsof -p 4411\n"
        "A: There are 9,800 sockets in CLOSE_WAIT. We create a new `ClientSession` per request and never"
        " close it.\n"
        "E: crawler/fetch.py\n"
        "A: Now there's one session for the whole run. After twenty minutes it stays at 60 descriptors.\n"
        "U: nice!! should we also limit the concurrency?\n"
        "A: I would. Per host, 4 is polite; globally 50.\n"
        "U: ok do 4 and 50\n"
        "E: crawler/limits.py\n"
        "A: Limits are in `crawler/limits.py`.",
        [
            "Limit the concurrency to 4 per host and 50 globally",
        ],
        [
            "Too many open files when the crawler runs for more than an hour: we create a new ClientSession"
            " per request and never close it",
        ],
        [],
    ),
    (
        "U: Le déploiement échoue depuis hier soir\n"
        "F: make deploy => Error: certificate has expired\n"
        "A: Le certificat du registre interne a expiré hier à 23 h ; personne ne reçoit les alertes de"
        " Let's Encrypt parce que l'adresse est celle de Paul, qui est parti.\n"
        "U: renouvelle-le et mets l'adresse de l'équipe\n"
        "E: infra/certs.tf\n"
        "P: make deploy => ok\n"
        "A: Le certificat est renouvelé et les alertes vont à l'équipe. Il reste à vérifier les autres"
        " domaines, au moins trois utilisent encore l'adresse de Paul.",
        [
            "Les alertes de Let's Encrypt vont à l'adresse de l'équipe",
        ],
        [
            "Le déploiement échoue: le certificat du registre interne a expiré ; personne ne reçoit les"
            " alertes parce que l'adresse est celle de Paul, qui est parti",
        ],
        [
            "NEXT: vérifier les autres domaines, au moins trois utilisent encore l'adresse de Paul",
        ],
    ),
    (
        "U: ビルドが遅いので何とかしたい\n"
        "P: npm run build\n"
        "A: 型チェックとバンドルが順番に実行されていて、型チェックだけで90秒かかっています。\n"
        "U: 並列にできますか？\n"
        "A: できます。型チェックを別プロセスにすれば、バンドルは30秒で終わります。\n"
        "U: ではそうしてください\n"
        "A: 承知しました。型チェックは別プロセスで並列に実行します。\n"
        "E: scripts/build.mjs\n"
        "P: npm run build => ok\n"
        "A: ビルドは95秒から34秒になりました。CI の設定はまだ変更していません。",
        [
            "型チェックは別プロセスで並列に実行します",
        ],
        [
            "ビルドが遅い: 型チェックとバンドルが順番に実行されていて、型チェックだけで90秒かかっている",
        ],
        [
            "NEXT: CI の設定はまだ変更していません",
        ],
    ),
    (
        "U: help me choose a license for the cli. we're a company but want outside contributions\n"
        "A: MIT or Apache-2.0 are the usual picks. Apache adds a patent grant, which legal departments"
        " like. AGPL would scare most contributors away.\n"
        "U: apache it is then. do we need a CLA?\n"
        "A: A DCO sign-off is lighter and enough for most projects.\n"
        "U: dco sounds good\n"
        "E: LICENSE\n"
        "E: CONTRIBUTING.md\n"
        "A: Added the license and a paragraph on sign-offs. The headers in the source files still say"
        ' "proprietary"; want me to change those as well?\n'
        "U: leave those to me",
        [
            "Apache-2.0 license (adds a patent grant, which legal departments like)",
            "DCO sign-off instead of a CLA: lighter and enough",
        ],
        [],
        [
            "NEXT: The headers in the source files still say proprietary",
        ],
    ),
    (
        "U: the price on the product page and in the cart differ for some items\n"
        'P: rg -n "price" src\n'
        "A: Found the difference: the product page shows the gross price rounded to two digits, the cart"
        " rounds the net price and adds tax afterwards. For 19 % that is off by a cent for about every"
        " eighth item.\n"
        "U: the cart must win, that's what we invoice\n"
        "A: OK. The product page now computes its price the way the cart does.\n"
        "E: src/product/price.ts\n"
        "P: npm test => Tests: 88 passed, 88 total\n"
        "A: Prices agree for all 4,200 items, I compared them with a script. The feed for Google"
        " Shopping uses its own rounding, I didn't touch it.",
        [
            "The cart must win, that's what we invoice: the product page computes its price the way the cart does",
        ],
        [
            "The price on the product page and in the cart differ: the product page shows the gross price"
            " rounded to two digits, the cart rounds the net price and adds tax afterwards",
        ],
        [
            "NEXT: The feed for Google Shopping uses its own rounding",
        ],
    ),
    (
        "U: Configura el envío de correos con SES\n"
        "E: app/mail.py\n"
        "F: pytest => 1 failed, 20 passed\n"
        "A: SES rechaza el remitente porque el dominio no está verificado en la región eu-west-1; lo"
        " está solo en us-east-1.\n"
        "U: usemos us-east-1 de momento\n"
        "A: Vale, los correos salen por us-east-1.\n"
        "E: app/settings.py\n"
        "P: pytest => 21 passed\n"
        "A: Funciona. Queda verificar el dominio en eu-west-1 para volver a la región de siempre.",
        [
            "Usar us-east-1 de momento para los correos",
        ],
        [
            "SES rechaza el remitente: el dominio no está verificado en la región eu-west-1, lo está solo en us-east-1",
        ],
        [
            "NEXT: verificar el dominio en eu-west-1 para volver a la región de siempre",
        ],
    ),
    (
        "U: Can you help me set up background jobs for sending invoices?\n"
        "A: Happy to help! Let me look at what's already there.\n"
        "P: cat requirements.txt\n"
        "A: You're already running Redis for sessions, so both **RQ** and **Celery** would work without"
        " new infrastructure.\n"
        "\n"
        "- **RQ** is tiny and easy to debug, but it has no periodic tasks built in.\n"
        "- **Celery** can do everything, at the price of more configuration.\n"
        "\n"
        "Since you mentioned monthly runs, I'd lean towards Celery. Does that work for you?\n"
        "U: I've been burned by celery before. rq, and we trigger the monthly run from cron\n"
        "A: Fair! RQ for the jobs, and cron triggers the monthly run.\n"
        "E: app/jobs.py\n"
        "E: ops/crontab\n"
        "P: pytest => 48 passed\n"
        "A: Everything is in place:\n"
        "\n"
        "- `app/jobs.py` contains the invoice job with three retries\n"
        "- `ops/crontab` starts it on the first of the month at 4:00\n"
        "\n"
        "One caveat: RQ workers fork per job, and the PDF library keeps a file handle open across forks,"
        " so it has to be imported inside the job.\n"
        "\n"
        "What's next: a dashboard to see failed jobs would help, `rq-dashboard` does that.",
        [
            "RQ for the jobs, and cron triggers the monthly run",
        ],
        [
            "RQ workers fork per job, and the PDF library keeps a file handle open across forks: it has to"
            " be imported inside the job",
        ],
        [
            "NEXT: A dashboard to see failed jobs, rq-dashboard does that",
        ],
    ),
    (
        "U: typescript build takes 4 minutes, do something\n"
        "P: npx tsc --extendedDiagnostics\n"
        "A: 3 of the 4 minutes are spent checking `src/generated/schema.ts`, a union with 2,400 members"
        " that every file imports.\n"
        "U: can we exclude it?\n"
        "A: Not from checking, but we can split it by domain; most files need only one part.\n"
        "U: do that. and turn on incremental builds while you're there\n"
        "E: scripts/split-schema.ts\n"
        "E: tsconfig.json\n"
        "P: npx tsc => ok\n"
        "A: Down to 50 seconds, 8 when nothing changed. The generator must be run through `npm run"
        " schema` from now on; calling the CLI directly writes the single file again.",
        [
            "Split the schema by domain; turn on incremental builds",
        ],
        [
            "Typescript build takes 4 minutes: src/generated/schema.ts is a union with 2,400 members that"
            " every file imports",
            "The generator must be run through npm run schema: calling the CLI directly writes the single file again",
        ],
        [],
    ),
    (
        "U: review this PR before i merge it please\n"
        "P: git diff main\n"
        "A: Two things I'd change:\n"
        "\n"
        '1. `parseDate` accepts "2024-02-31" and silently rolls over to March.\n'
        "2. The new endpoint has no auth check.\n"
        "\n"
        "The rest looks good.\n"
        "U: fix 2. for 1 we rely on the frontend, leave it\n"
        "E: api/export.ts\n"
        "A: The endpoint requires the `export` scope now.\n"
        "U: merged, thx",
        [
            "parseDate is left as it is, we rely on the frontend",
        ],
        [
            "parseDate accepts 2024-02-31 and silently rolls over to March",
        ],
        [],
    ),
    (
        "U: Our Lambda times out on cold start.\n"
        "P: aws logs tail /aws/lambda/thumb\n"
        "A: The cold start takes 11 seconds, and 9 of them are `import tensorflow`. The timeout is set"
        " to 10.\n"
        "A: Options: provisioned concurrency (about 40 $ a month), a container image with lazy import,"
        " or ONNX instead of TensorFlow.\n"
        "U: what would onnx mean for accuracy?\n"
        "P: python compare.py\n"
        "A: On 500 images the results are identical to four digits, and loading takes 0.6 seconds.\n"
        "U: wow ok. onnx!\n"
        "E: thumb/model.py\n"
        "F: sam build => Error: package exceeds 250 MB\n"
        "A: Even the ONNX runtime with all providers is too big for a zip. The CPU-only wheel is 40 MB,"
        " I'm using that one.\n"
        "E: requirements.txt\n"
        "P: sam build => Build Succeeded\n"
        "A: Deployed to dev: cold start is 1.4 seconds. I haven't converted the second model (faces),"
        " it's only used by the nightly batch.",
        [
            "ONNX instead of TensorFlow (identical to four digits, loading takes 0.6 seconds)",
            "Use the CPU-only wheel of the ONNX runtime, 40 MB",
        ],
        [
            "Our Lambda times out on cold start: 9 of 11 seconds are import tensorflow, the timeout is 10",
            "sam build fails, package exceeds 250 MB: the ONNX runtime with all providers is too big for a zip",
        ],
        [
            "NEXT: Convert the second model (faces), it's only used by the nightly batch",
        ],
    ),
    (
        "U: where is the code that sends the welcome mail?\n"
        "P: rg -n welcome\n"
        "A: `users/signals.py:31` sends it when a user is created. The template is `mails/welcome.html`.\n"
        "U: thanks. and in tests it's mocked?\n"
        "A: Yes, `conftest.py` replaces the backend with the in-memory one.",
        [],
        [],
        [],
    ),
    (
        "U: Wir müssen die Passwörter von bcrypt auf argon2 umstellen.\n"
        "A: Zwei Wege: alle Nutzer zum Zurücksetzen zwingen oder beim nächsten Login neu hashen.\n"
        "U: Zurücksetzen ist den Kunden nicht zuzumuten. Beim Login.\n"
        "A: Verstanden, beim nächsten Login wird mit argon2 neu gehasht.\n"
        "E: auth/passwords.py\n"
        "F: pytest => 2 failed, 31 passed\n"
        "A: Die Spalte ist auf 60 Zeichen begrenzt, argon2-Hashes haben 97. Es braucht also eine"
        " Migration.\n"
        "E: migrations/0012.py\n"
        "P: pytest => 33 passed\n"
        "A: Läuft. In etwa einem halben Jahr sollten wir prüfen, wer noch einen bcrypt-Hash hat.",
        [
            "Beim nächsten Login wird mit argon2 neu gehasht, Zurücksetzen ist den Kunden nicht zuzumuten",
        ],
        [
            "Zwei Tests schlagen fehl: die Spalte ist auf 60 Zeichen begrenzt, argon2-Hashes haben 97",
        ],
        [
            "NEXT: In etwa einem halben Jahr prüfen, wer noch einen bcrypt-Hash hat",
        ],
    ),
    (
        "U: please make the map faster, it stutters with 5k markers\n"
        "P: cat src/Map.tsx\n"
        "A: Every marker is a React component and all 5,000 rerender on each pan, because the `bounds`"
        " object is created anew in the parent.\n"
        "E: src/Map.tsx\n"
        "A: Memoising `bounds` helps (12 fps to 25 fps), but the DOM is the limit. Drawing the markers"
        " on a canvas layer would get us to 60.\n"
        "U: go for canvas, but keep the popups as html\n"
        "E: src/MarkerLayer.ts\n"
        "P: npm test => Tests: 70 passed, 70 total\n"
        "A: 60 fps with 5,000 markers; popups are still HTML. Keyboard focus on markers is lost with the"
        " canvas, an accessible list beside the map would make up for it.\n"
        "U: hm good point, open an issue for that",
        [
            "Markers are drawn on a canvas layer, but keep the popups as HTML",
        ],
        [
            "The map stutters with 5k markers: every marker is a React component and all rerender on each"
            " pan, because the bounds object is created anew in the parent",
        ],
        [
            "NEXT: Keyboard focus on markers is lost with the canvas, an accessible list beside the map"
            " would make up for it (issue)",
        ],
    ),
    (
        "U: bump all dependencies\n"
        "P: npm update\n"
        "F: npm test => Tests: 4 failed, 96 passed, 100 total\n"
        "A: date-fns 4 dropped the default export and `format` is stricter: `YYYY` throws now.\n"
        "U: pin date-fns to 3 for now, the rest can stay\n"
        "E: package.json\n"
        "P: npm test => Tests: 100 passed, 100 total\n"
        "A: Pinned to 3.6, all tests pass.",
        [
            "Pin date-fns to 3 for now",
        ],
        [
            "Four tests fail: date-fns 4 dropped the default export and format is stricter, YYYY throws now",
        ],
        [],
    ),
]


@pytest.mark.parametrize(
    ("kind", "place", "precision", "recall"),
    [("decisions", 1, 0.6, 0.6), ("gotchas", 2, 0.9, 0.75), ("next_step_hints", 3, 0.8, 0.75)],
)
def test_most_of_what_is_found_in_whole_talks_is_right_and_most_is_found(
    kind: str, place: int, precision: float, recall: float
) -> None:
    total = signals.Score()
    for told in TALKS:
        found = list(getattr(extract(talk(told[0])).signals, kind))
        total.add(signals._matched(kind, found, list(told[place])).score)
    figures = total.figures()
    assert figures["precision"] >= precision
    assert figures["recall"] >= recall


def test_talk_about_chores_leaves_nothing_behind() -> None:
    chores = [told for told in TALKS if not any(told[1:])]
    assert len(chores) == 3
    for told in chores:
        found = extract(talk(told[0])).signals
        assert found.decisions == found.gotchas == found.next_step_hints == ()
