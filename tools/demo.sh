#!/bin/sh
# A tour on a small sample repository in a temporary folder: init, save, query, inspect, status, check, sync, why,
# profile, journal, integrate, hooks, inbox.
set -eu

work=$(mktemp -d "${TMPDIR:-/tmp}/quire-demo.XXXXXX")
repo="$work/harbor"
# The tour keeps to its own folder: no registry entry, no instruction file outside it.
export MEMORY_HOME="$work/home"
export HOME="$work"
unset CLAUDECODE

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

mkdir -p "$repo/services/billing/webhooks" "$repo/services/render"
cd "$repo"
git init -q
cat > README.md <<'TEXT'
# Harbor
Invoices for small marinas.
TEXT
cat > services/billing/webhooks/retry.ts <<'TEXT'
export function retry(job) {
  return queue.push(job, { pause: 30 });
}
TEXT
echo 'export const render = (invoice) => pdf(invoice)' > services/render/index.ts
git add -A
git -c user.name=Demo -c user.email=demo@example.org commit -qm 'Harbor'

say "1. Create the memory in a repository"
run memory init

say "2. Save what the code cannot say"
cat > "$work/intent.json" <<'JSON'
{
  "task": "first indexing",
  "nodes": [
    {"id": "project.harbor", "body": "Harbor writes invoices for small marinas, by berth and by season."},
    {"kind": "feature", "title": "Webhook retry queue", "stage": "building",
     "body": "Failed payment webhooks are sent again with growing pauses.",
     "anchors": ["services/billing/webhooks/"],
     "related": [{"predicate": "depends_on", "to": "feature.pdf-rendering"}]},
    {"kind": "feature", "title": "PDF rendering", "stage": "shipped",
     "body": "Turns an invoice into a PDF.", "anchors": ["services/render/"]},
    {"kind": "decision", "title": "Retries run in the worker",
     "body": "The web process must answer within two seconds; a retry can take minutes.",
     "anchors": ["services/billing/webhooks/retry.ts#retry"],
     "related": [{"predicate": "affects", "to": "feature.webhook-retry-queue", "confidence": "high"}]},
    {"kind": "gotcha", "title": "Webhook ids repeat", "body": "The provider reuses ids after 30 days: key by id and day."},
    {"kind": "question", "title": "Who owns failed refunds?", "body": "Support and billing both say: the other."}
  ]
}
JSON
printf '$ memory save --file intent.json\n'
memory save --file "$work/intent.json"

say "3. Ask for it, in other words than it was written in"
run memory query "what happens when a payment notification gets lost?" --budget 400

say "4. Look at one node, with everything that touches it"
run memory inspect feature.webhook-retry-queue

say "5. Where the product stands"
run memory status

say "6. Is the memory sound?"
run memory check

commit() { git add -A && git -c user.name=Demo -c user.email=demo@example.org commit -qm "$1"; }
commit 'The memory'

say "7. The code moves on: one file is renamed, one is only reformatted"
git mv services/render services/pdf
printf 'export function retry(job) {\n    // pauses grow elsewhere\n    return queue.push(job, {pause: 30})\n}\n' \
  > services/billing/webhooks/retry.ts
commit 'Rename and reformat'
run memory sync

say "8. Why is this line as it is?"
run memory why services/billing/webhooks/retry.ts:3

say "9. What every agent now reads first (the end of AGENTS.md)"
sed -n '/memory:map:start/,/memory:map:end/p' AGENTS.md

say "10. Who works here, and how"
run memory profile remember user timezone "Europe/Madrid" --source user-stated
run memory profile remember tools package_manager "pnpm, never npm: the lock file must stay one" --tag user-preference
run memory profile search "which package manager?"

say "11. What happened in the sessions of an agent"
agent="$HOME/.claude/projects/$(printf %s "$repo" | tr -c 'A-Za-z0-9' '-')"
mkdir -p "$agent"
cat > "$agent/7c1e.jsonl" <<JSONL
{"type":"user","sessionId":"7c1e","cwd":"$repo","timestamp":"$(date -u +%FT%TZ)","message":{"role":"user","content":"Invoices come out empty since the rename. Please look."}}
{"type":"assistant","sessionId":"7c1e","cwd":"$repo","timestamp":"$(date -u +%FT%TZ)","message":{"role":"assistant","content":[{"type":"text","text":"Found it. Gotcha: an invoice without a berth renders as a blank page, because the template skips the whole block.\\n\\nDecided: invoices without a berth are refused before they are rendered.\\n\\nNext step: add a test for an invoice without a berth in services/pdf/index.ts."}]}}
JSONL
printf '$ memory journal init\n'
memory journal init > "$work/init.txt"
grep 'Journal made' "$work/init.txt"
run memory journal add claude-local "$HOME/.claude"
run memory journal sync --all
run memory journal recall
run memory journal query "why are invoices blank?"

say "12. Into the agents: what is written where, and back again with --remove"
run memory integrate claude

say "13. A session begins: what Claude Code is told by itself"
payload() { printf '{"session_id":"9a3f","cwd":"%s","transcript_path":"%s","hook_event_name":"%s"}' "$repo" "$agent/9a3f.jsonl" "$1"; }
printf '$ quire hook claude session-start\n'
payload SessionStart | quire hook claude session-start | python3 -c \
  'import json, sys; print(json.load(sys.stdin)["hookSpecificOutput"]["additionalContext"])'

say "14. It ends; what was said waits for your word"
cat > "$agent/9a3f.jsonl" <<JSONL
{"type":"user","sessionId":"9a3f","cwd":"$repo","timestamp":"$(date -u +%FT%TZ)","message":{"role":"user","content":"We decided to keep invoices for eleven years, because the harbour law asks for ten and the audit for one more."}}
{"type":"assistant","sessionId":"9a3f","cwd":"$repo","timestamp":"$(date -u +%FT%TZ)","message":{"role":"assistant","content":[{"type":"text","text":"Agreed, eleven years it is."}]}}
JSONL
payload SessionEnd | quire hook claude session-end
run memory inbox collect
run memory inbox
run memory inbox accept --all --from user
run memory receipts

say "15. To look at: the same as a page"
if memory view --export "$work/page" > "$work/page.txt" 2>&1; then
  printf '$ memory view --export page\n'
  sed "s#$work/##" "$work/page.txt"
else
  cat "$work/page.txt" # without the npm registry the page was not built; everything else works
fi

say "What to try next"
cat <<TEXT
The sample repository stays in $repo
  cd $repo
  export PATH="$(dirname "$(command -v memory)"):\$PATH" MEMORY_HOME="$MEMORY_HOME"
  memory view --open
  memory query "who looks after refunds?"
  memory brief services/pdf/index.ts
  memory profile session-start
  memory journal query "what should I do next?"
  memory journal log
  echo '{"task":"shipped","nodes":[{"id":"feature.webhook-retry-queue","stage":"shipped"}]}' | memory save --stdin
  memory diff
  memory docs getting-started
In a repository of your own: memory init, then memory init --brief for your agent.
TEXT
