"""Whether verdicts are right: scripted histories over a real repository of thousands of files.

Records with anchors of every form are saved in a repository of real sources (`ground.py`). Each history of
`histories.py` then happens to a clone of it, and what the product says of every record is held against what the script
says. Nothing of the expected verdicts comes from the product.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import ground
from benchmarks.ground import Definition
from benchmarks.histories import HISTORIES, ruff
from benchmarks.scenes import Expected, Part, Planted, Scene, Skipped, Tools, is_text
from quire.anchors.verify import Verifier
from quire.files.world import real_world
from quire.model.verdicts import VERDICTS, AnchorVerdict, Verdict
from quire.project import Project
from quire.upkeep.verdicts import file_of
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.graph.save import save_nodes

_LOOKED_AT_TWICE = 2
_SHOWN = 400
_ROOM = 4 << 30
_LARGEST_SOURCE = 40_000
"""Larger ones are read in the same way, only longer."""

__all__ = ["Ground", "Report", "measure", "planted_ground", "quiet", "run"]


class Ground(msgspec.Struct, frozen=True):
    """The repository in which the records were saved, and the records."""

    root: Path
    records: list[Planted]
    tools: Tools
    said: dict[str, Any]


class Wrong(msgspec.Struct, frozen=True, kw_only=True):
    history: str
    record: str
    anchors: list[str]
    expected: str
    got: str
    because: str


class Report(msgspec.Struct):
    """What was judged, and what of it was wrong."""

    matrix: dict[str, dict[str, Counter[str]]] = {}
    """By history: expected verdict, then the one given."""
    wrong: list[Wrong] = []
    proposed: Counter[str] = Counter()
    named: Counter[str] = Counter()
    symbols_kept: dict[str, Counter[str]] = {}
    """For histories that only change the formatting: by language, how many symbols were touched and stayed fresh."""
    differing: list[str] = []
    """Where one way to ask says something else than another."""
    skipped: dict[str, str] = {}
    seconds: dict[str, float] = {}
    details: list[Wrong] = []


def run() -> dict[str, Any]:
    begin = time.perf_counter()
    # Thousands of files are made sixty times: in memory, where there is room.
    room = Path("/dev/shm")
    place = room if os.access(room, os.W_OK) and shutil.disk_usage(room).free > _ROOM else None
    with tempfile.TemporaryDirectory(prefix="quire-bench-", dir=place) as name, quiet(Path(name)):
        folder = Path(name)
        built = planted_ground(folder)
        ready = time.perf_counter() - begin
        report = measure(built, folder)
    return _figures(built, report, ready, time.perf_counter() - begin)


@contextlib.contextmanager
def quiet(folder: Path) -> Iterator[None]:
    """Nothing of the user's is read or written, by us or by git."""
    (folder / "home").mkdir()
    (folder / "home" / ".gitconfig").write_text(
        "[user]\nname = Bench\nemail = bench@example.com\n[gc]\nauto = 0\n[init]\ndefaultBranch = main\n"
        "[advice]\ndetachedHead = false\n[protocol.file]\nallow = always\n[commit]\ngpgSign = false\n"
    )
    before = dict(os.environ)
    os.environ.update(
        HOME=str(folder / "home"),
        MEMORY_HOME=str(folder / "home" / "memory"),
        GIT_CONFIG_GLOBAL=str(folder / "home" / ".gitconfig"),
        GIT_CONFIG_NOSYSTEM="1",
        # Where the formatter of Rust finds itself; it only reads there.
        RUSTUP_HOME=before.get("RUSTUP_HOME", os.path.join(before.get("HOME", ""), ".rustup")),
    )
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


# -- the repository and its records ----------------------------------------------------------------------------


def planted_ground(folder: Path, *, small: bool = False) -> Ground:
    """The repository, committed, with its records: the real one, or one of generated files only."""
    root = folder / "ground"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    said: dict[str, Any] = {}
    tools = Tools(ruff=ruff())
    if small:
        ground.polyglot(root / "polyglot", 9)
        (root / ".gitignore").write_text("*.pyc\nignored/\n.memory/index/\n.memory/recovery/\n")
    else:
        fetched = folder / "tools"
        # npm keeps its own folder; what it needs to reach the registry is configured there.
        said = ground.assemble(root, fetched)
        tools = _tools(fetched)
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "Everything")
    (root / "library").mkdir(exist_ok=True)
    (root / "library" / "feature.py").write_text("def feature():\n    return 1\n")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "A feature")
    project = Project.open(str(root), real_world())
    init_memory(project, guidance=False)
    records = _plan(root, small)
    begin = time.perf_counter()
    _save(root, {"task": "benchmark", "nodes": [_node(one) for one in records]})
    said["seconds to save"] = round(time.perf_counter() - begin, 1)
    records, said["refused when saved"] = _sealed(root, records)
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "Memory")
    _git(root, "repack", "-a", "-d", "-q", "--depth=1", "--window=0")
    said["files"] = len(_git(root, "ls-files").split("\n"))
    return Ground(root, records, tools, said)


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def _tools(folder: Path) -> Tools:
    prettier = folder / "prettier" / "package" / "bin" / "prettier.cjs"
    node = shutil.which("node")
    rustfmt = shutil.which("rustfmt")
    return Tools(
        ruff=ruff(),
        prettier=[node, str(prettier)] if node and prettier.exists() else None,
        clang_format=_clang_format(folder / "clang"),
        rustfmt=[rustfmt]
        if rustfmt and not subprocess.run([rustfmt, "--version"], capture_output=True).returncode
        else None,
    )


def _clang_format(folder: Path) -> list[str] | None:
    found = shutil.which("clang-format")
    if found:
        return [found]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run([*install, "--target", str(folder), ground.CLANG_FORMAT], capture_output=True, timeout=120)
    program = folder / "clang_format" / "data" / "bin" / "clang-format"
    return None if done.returncode or not program.exists() else [str(program)]


def _plan(root: Path, small: bool) -> list[Planted]:
    """Which anchors: chosen by chance, the same ones for the same files."""
    chance = random.Random(5)
    paths = [path for path in _git(root, "ls-files").split("\n") if not path.startswith(('"', "."))]
    ids = {line.partition("\t")[2]: line.split()[1] for line in _git(root, "ls-files", "-s").split("\n")}
    contents = Counter(ids.values())
    sound = [path for path in paths if contents[ids[path]] == 1 and is_text(root / path)]
    symbols, pairs = _symbols(root, sound, chance, 3 if small else 9)
    taken = {part.files[0] for part in symbols}
    files = [path for path in sound if path not in taken]
    plain = [
        Part(anchor=path, form="file", files=(path,))
        for path in chance.sample(files, min(len(files), 8 if small else 50))
    ]
    folders = _folders(paths, set(sound), chance, 3 if small else 24)
    globs = _globs(paths, set(sound), {part.anchor for part in folders}, chance, 3 if small else 24)
    groups = [(part,) for part in (*symbols, *pairs, *plain, *folders, *globs)]
    mixed = [parts for parts in (plain, symbols, folders, globs) if parts]
    for _ in range(4 if small else 16):
        groups.append(tuple(chance.choice(parts) for parts in chance.sample(mixed, chance.choice((2, 3)))))
    texts = [path for path in sound if path.endswith((".md", ".txt"))][: 2 if small else 6]
    groups += [(Part(anchor=f"{path}#Heading", form="none", files=(path,)),) for path in texts]
    groups += [()] * (2 if small else 6)
    return [Planted(f"gotcha.r{number:04}", group) for number, group in enumerate(groups)]


def _symbols(root: Path, sound: list[str], chance: random.Random, most: int) -> tuple[list[Part], list[Part]]:
    """Of every language and kind some, one to a file; and for some of them another one in the same file."""
    by_kind: dict[tuple[str, str], list[Definition]] = {}
    others: dict[str, list[Definition]] = {}
    shuffled = [
        path
        for path in sound
        if Path(path).suffix in ground.LANGUAGES and (root / path).stat().st_size < _LARGEST_SOURCE
    ]
    chance.shuffle(shuffled)
    wanted: Counter[tuple[str, str]] = Counter()
    full = Counter(dict.fromkeys(ground.LANGUAGES.values(), 0))
    for path in shuffled:
        # Of most languages there are only so many; a few hundred files of the others are enough.
        language = ground.LANGUAGES[Path(path).suffix]
        full[language] += 1
        if full[language] > 25 * most:
            continue
        found = ground.definitions(path, (root / path).read_text())
        found = [one for one in found if wanted[one.language, one.kind] < most * (2 if one.language == "Python" else 1)]
        if not found:
            continue
        one = min(found, key=lambda one: wanted[one.language, one.kind])
        wanted[one.language, one.kind] += 1
        by_kind.setdefault((one.language, one.kind), []).append(one)
        others[path] = [other for other in found if other.top and one.top and other.name != one.name]
    chosen = [one for group in by_kind.values() for one in group]
    beside = [chance.choice(others[one.path]) for one in chosen if others[one.path]]
    beside = chance.sample(beside, min(len(beside), most))
    return [_symbol_part(one) for one in chosen], [_symbol_part(one) for one in beside]


def _symbol_part(one: Definition) -> Part:
    return Part(anchor=one.anchor, form="symbol", files=(one.path,), definition=one)


def _below(paths: Iterable[str]) -> dict[str, list[str]]:
    below: dict[str, list[str]] = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder:
            below.setdefault(folder, []).append(path)
            folder = folder.rpartition("/")[0]
    return below


def _folders(paths: list[str], sound: set[str], chance: random.Random, most: int) -> list[Part]:
    """Folders of a few dozen files, most of them to be told apart by their contents."""
    held = {
        folder: files
        for folder, files in _below(paths).items()
        if 3 <= len(files) <= 60 and len(sound.intersection(files)) >= 0.7 * len(files)
    }
    names = chance.sample(sorted(held), min(len(held), most))
    return [Part(anchor=f"{name}/", form="folder", files=tuple(held[name])) for name in names]


def _globs(paths: list[str], sound: set[str], without: set[str], chance: random.Random, most: int) -> list[Part]:
    found = []
    for folder, files in sorted(_below(paths).items()):
        if not 3 <= len(files) <= 120 or f"{folder}/" in without:
            continue
        suffix = Counter(Path(path).suffix for path in files).most_common(1)[0][0]
        way = chance.randrange(3)
        direct = [path for path in files if path.rpartition("/")[0] == folder and path.endswith(suffix)]
        if way == 0 and suffix:
            part = (f"{folder}/*{suffix}", direct)
        elif way == 1 and suffix:
            part = (f"{folder}/**/*{suffix}", [path for path in files if path.endswith(suffix)])
        else:
            letter = Counter(path.rpartition("/")[2][0] for path in direct).most_common(1)[0][0] if direct else "a"
            part = (f"{folder}/{letter}*", [path for path in files if path.startswith(f"{folder}/{letter}")])
            part = (part[0], [path for path in part[1] if "/" not in path[len(folder) + 1 :]])
        if len(part[1]) >= 2 and len(sound.intersection(part[1])) >= 0.7 * len(part[1]) and "[" not in folder:
            found.append(Part(anchor=part[0], form="glob", files=tuple(part[1])))
    return chance.sample(found, min(len(found), most))


def _node(one: Planted) -> dict[str, Any]:
    anchors = [part.anchor for part in one.parts]
    return {"id": one.ref, "kind": "gotcha", "title": f"Trap {one.ref[-4:]}", "body": "A trap.", "anchors": anchors}


def _save(root: Path, intent: dict[str, object]) -> None:
    save_nodes(Project.open(str(root), real_world()), intent)


def _sealed(root: Path, records: list[Planted]) -> tuple[list[Planted], dict[str, list[str]]]:
    """Without the symbols that the product could not find in their files: those are told, but not judged."""
    said = _verdicts(root)
    kept, refused = [], {}
    for one in records:
        verdict = said[one.ref]
        doubtful = [
            (part, given)
            for part, given in zip(one.parts, verdict.anchors, strict=True)
            if part.form == "symbol" and given.verdict != "fresh"
        ]
        if not doubtful:
            kept.append(one)
        for part, given in doubtful:
            assert part.definition
            refused.setdefault(part.definition.language, []).append(f"{part.anchor}: {given.verdict}, {given.because}")
    return kept, refused


# -- what is said ----------------------------------------------------------------------------------------------


def _verdicts(root: Path) -> dict[str, Verdict]:
    project = Project.open(str(root), real_world())
    records = project.with_index(lambda index: index.records("graph"))
    return Verifier(project.root, project.git, file_of).verify(records)


def measure(built: Ground, folder: Path, names: Iterable[str] | None = None) -> Report:
    report = Report()
    chance = random.Random(3)
    for number, name in enumerate(HISTORIES if names is None else names):
        begin = time.perf_counter()
        place = folder / f"scene-{number}"
        subprocess.run(["git", "clone", "-q", str(built.root), str(place)], check=True, capture_output=True)
        scene = Scene(place, built.records, _save, built.tools)
        try:
            HISTORIES[name][1](scene)
        except Skipped as reason:
            report.skipped[name] = str(reason)
        else:
            said = _verdicts(scene.root)
            _judge(report, name, scene, said)
            _ask_otherwise(report, name, scene, said, chance)
        report.seconds[name] = round(time.perf_counter() - begin, 2)
        for left in folder.glob(f"scene-{number}*"):
            shutil.rmtree(left)
    return report


def _judge(report: Report, name: str, scene: Scene, said: dict[str, Verdict]) -> None:
    matrix = report.matrix.setdefault(name, {})
    touched = {change.path for change in scene.changes}
    for record in scene.records:
        expected, given = scene.expected(record), said[record.ref]
        right = given.verdict == expected.verdict or given.verdict in expected.accepted
        wanted = given.verdict if right else expected.verdict
        matrix.setdefault(wanted, Counter())[given.verdict] += 1
        if not right:
            report.wrong.append(_wrong(name, record, expected.verdict, given))
        for part, about in zip(record.parts, given.anchors, strict=True):
            _judge_details(report, name, record, scene.expected_of(part), about)
            if HISTORIES[name][0] == "format" and part.definition and touched.intersection(part.files):
                kept = report.symbols_kept.setdefault(f"{name}: {part.definition.language}", Counter())
                kept["touched"] += 1
                kept["fresh"] += about.verdict == "fresh"


def _judge_details(report: Report, name: str, record: Planted, expected: Expected, given: AnchorVerdict) -> None:
    """What is said beside the verdict: where it went, and who did it."""
    if given.verdict != expected.verdict:
        return
    if given.verdict == "moved":
        right = len(given.to) == len(expected.to) and all(map(_same_place, sorted(given.to), sorted(expected.to)))
        report.proposed["right" if right else "wrong"] += 1
        if not right:
            told = f"to {', '.join(given.to)}"
            report.details.append(_detail(name, record, given, f"to {', '.join(expected.to)}", told))
    if given.verdict in ("changed", "moved", "orphaned") and (expected.commits or given.commit):
        kind = f"{given.verdict}: commit"
        right = given.commit in expected.commits
        report.named[f"{kind} {'right' if right else 'missing' if not given.commit else 'wrong'}"] += 1
        if not right:
            report.details.append(_detail(name, record, given, f"commit {expected.commits}", f"commit {given.commit}"))
    if given.verdict == "changed" and (expected.dirty or given.dirty):
        right = set(given.dirty) == set(expected.dirty[:5]) or set(given.dirty) <= set(expected.dirty)
        report.named[f"changed: dirty files {'right' if right else 'wrong'}"] += 1
        if not right:
            report.details.append(_detail(name, record, given, f"dirty {expected.dirty}", f"dirty {given.dirty}"))


def _same_place(given: str, expected: str) -> bool:
    """A symbol may be named with more of what it stands in."""
    file, _, name = given.partition("#")
    wanted_file, _, wanted = expected.partition("#")
    name, wanted = name.replace("::", "."), wanted.replace("::", ".")
    return file == wanted_file and (name == wanted or (bool(wanted) and name.endswith(f".{wanted}")))


def _wrong(name: str, record: Planted, expected: str, given: Verdict) -> Wrong:
    anchors = [part.anchor for part in record.parts]
    return Wrong(
        history=name, record=record.ref, anchors=anchors, expected=expected, got=given.verdict, because=given.because
    )


def _detail(name: str, record: Planted, given: AnchorVerdict, expected: str, got: str) -> Wrong:
    return Wrong(
        history=name, record=record.ref, anchors=[given.anchor], expected=expected, got=got, because=given.because
    )


def _ask_otherwise(report: Report, name: str, scene: Scene, said: dict[str, Verdict], chance: random.Random) -> None:
    """A few records through the front door, and one through the command: all must say the same."""
    project = Project.open(str(scene.root), real_world())
    # Half of them those that something happened to.
    troubled = [one for one in scene.records if said[one.ref].verdict not in ("fresh", "unanchored")]
    chosen = [
        *chance.sample(troubled, min(_LOOKED_AT_TWICE, len(troubled))),
        *chance.sample(scene.records, min(_LOOKED_AT_TWICE, len(scene.records))),
    ]
    for one in chosen:
        found = inspect_node(project, one.ref).verdict
        if found != said[one.ref]:
            report.differing.append(f"{name}: {one.ref}: inspect says {found}, verify {said[one.ref]}")
    one = chosen[0]
    command = [sys.executable, "-m", "quire", "inspect", one.ref, "--json"]
    done = subprocess.run(command, cwd=scene.root, check=True, capture_output=True)
    shown = json.loads(done.stdout)["data"]["object"]["verdict"]
    if shown != said[one.ref].verdict:
        report.differing.append(f"{name}: {one.ref}: the command says {shown}, verify {said[one.ref].verdict}")


# -- figures ---------------------------------------------------------------------------------------------------


def _figures(built: Ground, report: Report, ready: float, seconds: float) -> dict[str, Any]:
    total: dict[str, Counter[str]] = {}
    for rows in report.matrix.values():
        for wanted, given in rows.items():
            total.setdefault(wanted, Counter()).update(given)
    forms = Counter(part.form for one in built.records for part in one.parts)
    languages = Counter(
        part.definition.language for one in built.records for part in one.parts if part.definition is not None
    )
    return {
        "corpus": built.said,
        "records": len(built.records),
        "anchors by form": dict(forms),
        "symbols by language": dict(languages.most_common()),
        "formatters": [name for name in Tools.__struct_fields__ if getattr(built.tools, name)],
        "judged": sum(count for given in total.values() for count in given.values()),
        "right": sum(given[wanted] for wanted, given in total.items()),
        "false fresh": sum(given["fresh"] for wanted, given in total.items() if wanted != "fresh"),
        "confusion, expected by given": {wanted: dict(given) for wanted, given in sorted(total.items())},
        "by verdict": {verdict: precision_and_recall(total, verdict) for verdict in VERDICTS},
        "formatting: symbols touched and still fresh": {
            name: f"{kept['fresh']} of {kept['touched']}" for name, kept in sorted(report.symbols_kept.items())
        },
        "moves: proposed anchor": dict(report.proposed),
        "causes named": dict(sorted(report.named.items())),
        "ways to ask that differ": report.differing,
        "histories": {
            name: {
                "kind": HISTORIES[name][0],
                "expected by given": {wanted: dict(given) for wanted, given in rows.items()},
                "wrong": sum(count for wanted, given in rows.items() for got, count in given.items() if got != wanted),
            }
            for name, rows in report.matrix.items()
        },
        "skipped": report.skipped,
        "wrong": [msgspec.to_builtins(one) for one in report.wrong[:_SHOWN]],
        "wrong in the details": [msgspec.to_builtins(one) for one in report.details[:_SHOWN]],
        "seconds": {"to make the repository": round(ready, 1), "in all": round(seconds, 1)},
    }


def precision_and_recall(total: dict[str, Counter[str]], verdict: str) -> dict[str, float | int | None]:
    right = total.get(verdict, Counter())[verdict]
    given = sum(row[verdict] for row in total.values())
    wanted = sum(total.get(verdict, Counter()).values())
    return {
        "expected": wanted,
        "precision": round(right / given, 4) if given else None,
        "recall": round(right / wanted, 4) if wanted else None,
    }
