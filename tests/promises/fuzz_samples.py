"""What agents, hosts and repositories hold, a little of each: seeds."""

from __future__ import annotations

__all__ = ["ADR", "DESIGN", "HEAD", "HOSTS", "NOTE", "REPOSITORY", "SAID", "SESSIONS"]

CLAUDE = (
    b'{"type":"summary","summary":"Caching","leafUuid":"f"}\n'
    b'{"parentUuid":null,"isSidechain":false,"cwd":"/w","sessionId":"s","type":"user","uuid":"u1","timestamp":'
    b'"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"Why is the list slow?"}}\n'
    b'{"parentUuid":"u1","type":"assistant","uuid":"u2","message":{"role":"assistant","content":[{"type":"text","text":'
    b'"Decision: cache it for 30 seconds."},{"type":"tool_use","id":"t1","name":"Bash",'
    b'"input":{"command":"npm test"}}]}}\n'
    b'{"parentUuid":"u2","type":"user","uuid":"u3","message":{"role":"user","content":[{"type":"tool_result",'
    b'"tool_use_id":"t1","content":[{"type":"text","text":"1 failed"}],"is_error":true}]}}\n'
    b'{"type":"system","subtype":"compact_boundary","isCompactSummary":true,"message":{"role":"user","content":"x"}}\n'
)
CODEX = (
    b'{"timestamp":"2026-03-01T11:00:00.000Z","type":"session_meta","payload":{"id":"0199","cwd":"/w","git":{}}}\n'
    b'{"timestamp":"2026-03-01T11:00:03.000Z","type":"event_msg","payload":{"type":"user_message",'
    b'"message":"Make it"}}\n'
    b'{"timestamp":"2026-03-01T11:00:05.000Z","type":"response_item","payload":{"type":"function_call","name":"shell",'
    b'"arguments":"{\\"command\\":[\\"bash\\",\\"-lc\\",\\"rg x src\\"]}","call_id":"c1"}}\n'
    b'{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\\"output\\":\\"no\\",'
    b'\\"metadata\\":{\\"exit_code\\":1}}"}}\n'
    b'{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":'
    b'"Next: add a test."}]}}\n{"type":"compacted","payload":{"message":"short"}}\n'
)
GEMINI = (
    b'{"sessionId":"s","projectHash":"h","startTime":"2026-03-01T10:00:00Z","messages":[{"id":"1","type":"user",'
    b'"timestamp":"2026-03-01T10:00:00Z","content":"Why?"},{"type":"gemini","content":[{"text":"Because."}],'
    b'"toolCalls":'
    b'[{"id":"t","name":"run_shell_command","args":{"command":"ls"},"result":[{"functionResponse":{"response":'
    b'{"output":"a"}}}],"status":"error"}]}]}'
)
OPENCODE = (
    b'{"id":"s","title":"T","directory":"/w","time":{"created":1772359200000},"parentID":"ses_0"}\n'
    b'{"id":"msg_1","role":"assistant","time":{"created":1772359200000},"path":{"cwd":"/w"},"error":{"name":"E"}}\n'
    b'{"type":"text","text":"Because."}\n{"type":"tool","tool":"bash","callID":"c","state":{"status":"error","input":'
    b'{"command":"ls"},"error":"no","time":{"start":1}}}\n{"type":"text","synthetic":true,"text":"x"}'
)
EXPORT = b"# Talk\n_Exported on 3/1/2026_\n\n---\n\n**User**\n\nWhy?\n\n---\n\n**Cursor**\n\nDecision: keep it.\n"
NOTE = (
    b"# Notes\n\n## Decisions\n\n- **Redis**: use it, because jobs are kept. Never use `rm`.\n\n```sh\nmake test\n```\n"
)
HEAD = b"---\ndescription: x\npermalink: a/b\nglobs: ['src/**']\ntags: [a, b]\ntype: note\n---\n"
DESIGN = (
    b'---\nid: retry\ntitle: "Retry"\nstatus: decided\ntags: [a,'
    b" 'b']\nopen_questions:\n  - \"How long?\"\n  - >\n    x\n"
    b"---\n# Retry\n\n## Decisions\n\n### Keep it\n\n**Status:** decided\n\n**Rationale:** One less.\n\n- [ ] "
    b"open\n- [x] no\n"
)
ADR = (
    b"# 1. Use Redis\n\nDate: 2026-01-05\n\n## Status\n\nAccepted\n\n## Context\n\nX.\n\n## Decision\n\nWe "
    b"use `src/a.py`.\n"
)
SAID = (
    b"> the export fails with a timeout, why?\nFound it: the query has no index. That is why it is slow.\n$ pytest -q\n"
    b"! 1 failed, 3 passed\n> ok, use B,"
    b" but never in the request. later: the docs\nDecision: use Redis because it keeps"
    b" jobs.\nAll 12 tests pass. Next: add metrics, then delete the old file `src/a.py`.\n"
)

HOSTS: tuple[tuple[str, str, bytes], ...] = (
    ("claude-md", "CLAUDE.md", NOTE),
    ("claude-rules", ".claude/rules/a.md", HEAD + NOTE),
    ("claude-memory", "~/.claude/projects/HERE/memory/a.md", b"---\nname: a\ntype: project\n---\n" + NOTE),
    ("gemini-md", "GEMINI.md", NOTE),
    ("cursor-rules", ".cursor/rules/a.mdc", HEAD + NOTE),
    ("cline-memory-bank", "memory-bank/progress.md", NOTE),
    ("cline-rules", ".clinerules", NOTE),
    ("copilot-instructions", ".github/copilot-instructions.md", NOTE),
    (
        "codex-memories",
        "~/.codex/memories/MEMORY.md",
        b"# Task Group: X\n\ncwd = `HERE`\n\n## Learned\n\n- Use Redis.\n",
    ),
    ("serena", ".serena/memories/a.md", NOTE),
    (
        "mcp-memory",
        "memory.jsonl",
        b'{"type":"entity","name":"Queue","entityType":"service","observations":["Uses Redis.","Known issue: slow"]}\n'
        b'{"type":"relation","from":"Queue","to":"Worker","relationType":"feeds"}\n',
    ),
    ("basic-memory", "notes/a.md", HEAD + b"# A\n\n- [decision] Use Redis #queue (because)\n- relates_to [[B]]\n"),
    ("adr", "docs/adr/0001-redis.md", ADR),
    ("okf", "okf/redis.md", b"---\ntype: Decision\ntitle: Redis\ntags: [jobs]\n---\n\nIt keeps jobs.\n"),
    (
        "beads",
        ".beads/issues.jsonl",
        b'{"id":"bd-1","title":"Cents drift","description":"Floats.","status":"open","priority":1,"issue_type":"bug",'
        b'"labels":["gotcha"],"created_at":"2026-01-05T09:00:00Z","dependencies":[{"depends_on_id":"bd-2",'
        b'"type":"blocks"}]}\n',
    ),
)
REPOSITORY: tuple[tuple[str, bytes], ...] = (
    (
        "package.json",
        b'{"name":"x","scripts":{"test":"jest"},"workspaces":["a/*"],"main":"i.js","exports":{".":{"a":"b"}}}',
    ),
    (
        "pyproject.toml",
        b'[project]\nname = "x"\ndescription = "d"\n[project.scripts]\ny = "a.b:c"\n[tool.uv.workspace]\n',
    ),
    ("Cargo.toml", b'[package]\nname = "x"\n[workspace]\nmembers = ["a/*"]\n[[bin]]\nname = "b"\npath = "c.rs"\n'),
    (
        "README.md",
        b"# X\n\nDoes it.\n\n## Gotchas\n\n- **Slow**: floats. Use ints.\n\n## TODO\n\n- [ ] Repair `src/a.py`\n",
    ),
    ("Makefile", b"test: a ## Runs it\n\tpytest -q\n.PHONY: x\n"),
    (".github/workflows/ci.yml", b"jobs:\n  a:\n    steps:\n      - run: |\n          make test\n          npm ci\n"),
    ("docs/architecture.md", b"# A\n\n- `src/` holds it.\n\n## Modules\n\n| a | b |\n|---|---|\n| src | code |\n"),
    ("CHANGELOG.md", b"# C\n\n## [Unreleased]\n\n- Added x\n\n## 1.0 - 2026-01-05\n\n- y\n"),
    ("src/a.py", b'"""What it does. More."""\nimport x\n'),
    ("src/b.go", b"// Package b does it.\n//\n// More.\npackage b\n"),
    ("pnpm-workspace.yaml", b"packages:\n  - \"a/*\"\n  - '!b'\n"),
    ("setup.cfg", b"[metadata]\nname = x\ndescription = d\n[options.entry_points]\nconsole_scripts =\n  a = b:c\n"),
    ("go.mod", b"module example.com/x\n\ngo 1.22\n"),
)

SESSIONS: tuple[tuple[str, str, bytes], ...] = (
    ("claude-local", "s.jsonl", CLAUDE),
    ("codex-local", "rollout-2026-03-01T11-00-00-0199.jsonl", CODEX),
    ("gemini-local", "session-2026-03-01T10-00-s.json", GEMINI),
    ("opencode-local", "s.json", OPENCODE),
    ("cursor-export", "talk.md", EXPORT),
    ("markdown", "note.md", NOTE),
)
