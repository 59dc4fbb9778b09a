"""A repository to judge verdicts on: real sources as they lie on the machine, and what they define.

The standard library of the running interpreter is always there. Packages of other languages come from the npm registry
in pinned versions, where it can be reached; a few files written here make sure that no language is missing. What a file
defines is found by reading its lines, not by the product's parsers: these are what is to be judged.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sysconfig
import tarfile
from functools import cache
from pathlib import Path

import msgspec

PACKAGES = (
    *(
        "express@4.21.2",
        "svelte@5.1.9",
        "rxjs@7.8.1",
        "zod@4.1.5",
        "serverless@2.72.3",
        "expo-modules-autolinking@2.0.8",
    ),
    *("cordova-android@13.0.0", "leveldown@6.1.1", "usb@2.14.0", "edge-js@23.1.1", "@wordpress/block-library@9.10.0"),
)
PRETTIER = "prettier@3.3.3"
CLANG_FORMAT = "clang-format==19.1.0"
LANGUAGES = {
    **dict.fromkeys((".js", ".mjs", ".cjs"), "JavaScript"),
    **dict.fromkeys((".ts", ".mts"), "TypeScript"),
    **dict.fromkeys((".cc", ".cpp"), "C++"),
    ".py": "Python",
    ".go": "Go",
    ".rs": "Rust",
    ".java": "Java",
    ".c": "C",
    ".cs": "C#",
    ".rb": "Ruby",
    ".php": "PHP",
}
_KEPT = (*LANGUAGES, ".h", ".txt", ".md", ".json", ".toml", ".cfg", ".rst", ".css", ".scss")
_LARGEST = 400_000
_FEWEST_LINES = 5
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

__all__ = ["CLANG_FORMAT", "LANGUAGES", "PACKAGES", "PRETTIER", "Definition", "assemble", "definitions", "polyglot"]


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """Something a file defines: lines count from 1, `body` is the line before which a statement can be put."""

    path: str
    name: str
    language: str
    kind: str
    first: int
    last: int
    body: int
    top: bool
    """Whether it stands by itself, in nothing else."""

    @property
    def anchor(self) -> str:
        return f"{self.path}#{self.name}"

    @property
    def last_name(self) -> str:
        return re.split(r"\.|::", self.name)[-1]


# -- the files ------------------------------------------------------------------------------------------------


def assemble(root: Path, tools: Path) -> dict[str, object]:
    """Lay the corpus out below `root`; formatters go to `tools`. What could not be had is said."""
    said: dict[str, object] = {}
    library = Path(sysconfig.get_paths()["stdlib"])
    said["python library"] = _copy(library, root / "library", {"site-packages", "__pycache__", "lib2to3"})
    said["python headers"] = _copy(Path(sysconfig.get_paths()["include"]), root / "headers", set())
    polyglot(root / "polyglot", 4)
    try:
        counts = dict.fromkeys(PACKAGES, 0)
        _npm(tools, [*PACKAGES, PRETTIER])
        for name in PACKAGES:
            plain = name.rpartition("@")[0].removeprefix("@").replace("/", "-")
            without = {"node_modules", "dist", "build-module"}
            counts[name] = _copy(tools / plain / "package", root / "packages" / plain, without)
        said["npm packages"] = counts
    except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
        said["npm packages"] = f"skipped: {type(error).__name__}: {str(error)[:120]}"
    (root / ".gitignore").write_text("*.pyc\nignored/\n.memory/index/\n.memory/recovery/\n")
    return said


def _copy(source: Path, target: Path, without: set[str]) -> int:
    count = 0
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if name not in without)
        for name in sorted(names):
            path = Path(folder) / name
            if path.suffix not in _KEPT or path.stat().st_size > _LARGEST or path.is_symlink():
                continue
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
            count += 1
    return count


def _npm(folder: Path, packages: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    program = shutil.which("npm")
    if program is None:
        raise OSError("npm is not installed")
    command = [program, "pack", "--silent", "--pack-destination", str(folder), *packages]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    for package in packages:
        plain = package.rpartition("@")[0].removeprefix("@").replace("/", "-")
        version = package.rpartition("@")[2]
        with tarfile.open(folder / f"{plain}-{version}.tgz") as packed:
            packed.extractall(folder / plain, filter="data")


# -- what they define -----------------------------------------------------------------------------------------


def definitions(path: str, text: str) -> list[Definition]:
    """Functions, methods and classes of a few lines and more, whose names the file defines only once."""
    language = LANGUAGES.get(Path(path).suffix, "")
    if "\r" in text or "\f" in text or not language:
        return []
    try:
        found = _python(path, text) if language == "Python" else _braces(path, text, language)
    except (SyntaxError, ValueError, RecursionError):
        return []
    names = [one.last_name for one in found]
    return [
        one
        for one in found
        if one.last - one.first >= _FEWEST_LINES
        and names.count(one.last_name) == 1
        and len(_named(one.last_name, language).findall(text)) <= (language == "Python")
    ]


@cache
def _named(name: str, language: str) -> re.Pattern[str]:
    """Where a name is given once more: assigned, declared ahead, or, in Python, defined."""
    if language == "Python":
        return re.compile(rf"^\s*(?:(?:async )?(?:def|class)\s+{name}\b|{name}\s*(?::[^=\n]+)?=[^=])", re.MULTILINE)
    assigned = rf"(?:(?:const|let|var|exports\.|module\.exports\.)\s*)?{name}\s*=[^=]"
    overloaded = rf"function {name}\b[^{{]*;$"
    return re.compile(rf"^\s*{assigned}|{overloaded}|^[\w*&:<> \t]*\b{name}\([^{{\n]*\);$", re.MULTILINE)


def _python(path: str, text: str) -> list[Definition]:
    found: list[Definition] = []

    def walk(nodes: list[ast.stmt], scope: tuple[str, ...]) -> None:
        for node in nodes:
            if not isinstance(node, _NAMED):
                continue
            name = (*scope, node.name)
            kind = "class" if isinstance(node, ast.ClassDef) else "method" if scope else "function"
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            # Before the last plain statement, which is not on the line of the definition itself.
            plain = [
                one for one in node.body if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            ]
            starts = [one.lineno for one in plain[1:] if one.lineno > node.lineno]
            if starts and node.end_lineno:
                found.append(
                    Definition(
                        path=path,
                        name=".".join(name),
                        language="Python",
                        kind=kind,
                        first=first,
                        last=node.end_lineno,
                        body=starts[-1],
                        top=not scope,
                    )
                )
            if isinstance(node, ast.ClassDef):
                walk(node.body, name)

    walk(ast.parse(text).body, ())
    return found


_NOT_NAMES = {"if", "for", "while", "switch", "catch", "function", "return", "constructor", "else", "do", "try", "with"}
_ACCESS = r"(?:(?:public|private|protected|static|async|override) )*"
_JAVASCRIPT = (
    ("function", r"(?:export )?(?:default )?(?:async )?function\*? (?P<name>\w+)\(.*\{"),
    ("class", r"(?:export )?(?:default )?(?:abstract )?class (?P<name>\w+)\b.*\{"),
    (
        "method",
        rf"(?P<indent>\t|  |    ){_ACCESS}(?P<name>[a-z]\w+)\(.*\{{",
    ),
)
_JAVA = (
    ("class", r"(?:(?:public|final|abstract|internal|static|sealed) )*class (?P<name>\w+)\b[^;]*"),
    (
        "method",
        r"(?P<indent>\t|  |    )(?:public|private|protected|internal)[\w\s<>\[\],.?]*? (?P<name>\w+)\([^;]*",
    ),
)
_C = (("function", r"(?:[A-Za-z_][\w<>:]*[\s*&]+)+(?P<name>(?:\w+::)?\w+)\((?!.*;).*\)(?: const)?(?: \{)?"),)
_SHAPES: dict[str, tuple[tuple[str, str], ...]] = {
    "JavaScript": _JAVASCRIPT,
    "TypeScript": _JAVASCRIPT,
    "Java": _JAVA,
    "C#": _JAVA,
    "C": _C,
    "C++": _C,
    "Go": (
        ("method", r"func \(\w+ \*?(?P<owner>\w+)\) (?P<name>\w+)\(.*\{"),
        ("function", r"func (?P<name>\w+)\(.*\{"),
    ),
    "Rust": (
        ("class", r"impl (?P<name>\w+) \{"),
        ("method", r"(?P<indent>    )(?:pub )?fn (?P<name>\w+)\b.*\{"),
        ("function", r"(?:pub )?fn (?P<name>\w+)\b.*\{"),
    ),
    "Ruby": (
        ("class", r"(?:class|module) (?P<name>\w+)\b.*"),
        ("method", r"(?P<indent>(?:  )+)def (?:self\.)?(?P<name>\w+)\b.*"),
        ("function", r"def (?P<name>\w+)\b.*"),
    ),
    "PHP": (
        ("class", r"(?:final |abstract )?class (?P<name>\w+)\b.*"),
        ("method", r"(?P<indent>\t|    )(?:(?:public|private|protected|static) )+function (?P<name>\w+)\(.*"),
        ("function", r"function (?P<name>\w+)\(.*"),
    ),
}
_COMPILED = {language: [(kind, re.compile(shape)) for kind, shape in shapes] for language, shapes in _SHAPES.items()}


def _braces(path: str, text: str, language: str) -> list[Definition]:
    """Definitions of code that is laid out as usual: what opens at an indentation closes at the same one."""
    if re.search(r'R"\(|<<~|<<-|<<<|\?>\s*<|#if|"""', text) and language != "C":
        return []
    lines = text.split("\n")
    closing = "end" if language == "Ruby" else "}"
    found: list[Definition] = []
    around: Definition | None = None
    for at, line in enumerate(lines):
        for kind, shape in _COMPILED[language]:
            match = shape.fullmatch(line.rstrip())
            if not match or match["name"] in _NOT_NAMES:
                continue
            indent = match.groupdict().get("indent") or ""
            opening = at
            if language != "Ruby" and not line.rstrip().endswith("{"):
                opening = at + 1
                if opening >= len(lines) or lines[opening].rstrip() != indent + "{":
                    continue
            ends = (
                place
                for place in range(opening + 1, len(lines))
                if lines[place].startswith(indent + closing)
                or (lines[place].strip() and not _deeper(lines[place], indent))
            )
            last = next(ends, None)
            if last is None or lines[last].rstrip() not in (indent + closing, indent + closing + ";"):
                continue
            owner = match.groupdict().get("owner")
            if kind == "method" and not owner:
                if around is None or not around.first <= at + 1 <= around.last:
                    continue
                owner = around.name
            one = Definition(
                path=path,
                name=f"{owner}.{match['name']}" if owner else match["name"],
                language=language,
                kind=kind,
                first=_annotated(lines, at, indent) + 1,
                last=last + 1,
                body=opening + 2,
                top=kind != "method" or language == "Go",
            )
            if kind == "class":
                around = one
            # What `impl` opens is no definition of its own, only where methods stand.
            if not (language == "Rust" and kind == "class"):
                found.append(one)
            break
    return found


def _annotated(lines: list[str], at: int, indent: str) -> int:
    """Where a definition begins that has annotations above it."""
    while at and lines[at - 1].startswith((f"{indent}@", f"{indent}#[", f"{indent}[")):
        at -= 1
    return at


def _deeper(line: str, indent: str) -> bool:
    if not indent:
        return line[0] in " \t}#/*" or line.startswith(("end", ")", "]", "public:", "private:", "protected:"))
    return line.startswith(indent)


# -- every language, a little ---------------------------------------------------------------------------------


def polyglot(root: Path, copies: int) -> None:
    """A few files of each language, each with three functions and a class, no two alike."""
    for suffix, template in _TEMPLATES.items():
        for number in range(1, copies + 1):
            folder = root / f"part{(number + 1) // 2}"
            folder.mkdir(parents=True, exist_ok=True)
            text = template.replace("K0", str(number)).replace("W0", _WORDS[number % len(_WORDS)])
            text = text.replace("V0", _WORDS[(number * 3 + 1) % len(_WORDS)].capitalize())
            (folder / f"{_WORDS[(number * 5 + 2) % len(_WORDS)]}{number}{suffix}").write_text(text)


_WORDS = ("ledger", "voyage", "harbor", "parcel", "lantern", "meadow", "quarry", "signal", "timber", "walnut", "zephyr")

_C_LIKE = """
TYPE countW0K0(PARAMS)
{
    TYPE2 total = K0;
    for (LOOP) {
        total = total + 3;
    }
    return total;
}

TYPE limitV0K0(PARAMS)
{
    if (limit > K0) {
        return 1;
    }
    report(limit);
    return limit;
}

TYPE tidyW0V0K0(PARAMS)
{
    TYPE2 first = limit + 2;
    report(first);
    return first * K0;
}
"""


def _c_like(kind: str, kind2: str, params: str, loop: str) -> str:
    text = _C_LIKE.replace("TYPE2", kind2).replace("TYPE", kind)
    return text.replace("PARAMS", params).replace("LOOP", loop).lstrip()


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line.strip() else "" for line in text.split("\n"))


_PLAIN = _c_like("int", "int", "int limit", "int at = 0; at < limit; at++")
_MEMBERS = _PLAIN.replace("int count", "public int count").replace("int limitV", "public int limitV")
_MEMBERS = _indented(_MEMBERS.replace("int tidy", "public int tidy")).rstrip()
_SCRIPT = (
    _c_like("function", "let", "limit", "let at = 0; at < limit; at++").replace(")\n{", ") {")
    + """
class V0StoreK0 {
  openW0K0(limit) {
    const held = this.load(limit);
    report(held);
    this.count = K0;
    return held;
  }

  closeW0K0(limit) {
    this.count = 0;
    report(limit);
    this.done = true;
    return this.count;
  }
}
"""
)

_TEMPLATES = {
    ".md": "# W0 K0\n\n" + "What the V0 store keeps, and why it is tidied on the K0th of a month.\n" * 4,
    ".py": '''"""About W0 K0."""


def count_W0_K0(limit):
    """How many there are."""
    total = K0;  kept = {'W0': [total,limit], "V0": (limit)}
    for at in range(limit):
        total = total + 3
    return total


def limit_W0_K0(limit):
    if limit > K0:
        return 1
    report( limit,
        'V0' )
    return limit


class V0StoreK0:
    """Keeps W0."""

    size = K0

    def open_W0(self, limit):
        held = self.load(limit)
        report(held)
        self.count = K0
        return held

    def close_W0(self, limit):
        self.count = 0
        report(limit)
        self.done = True
        return self.count


def tidy_W0_K0(limit):
    first = (limit+2)
    report(first, "W0")
    third = first * K0
    report(third)
    return third
''',
    ".js": _SCRIPT,
    ".ts": _SCRIPT.replace("(limit) {", "(limit: number): number {"),
    ".c": _PLAIN,
    ".cc": "// In C++.\n" + _PLAIN,
    ".java": "class V0StoreK0 {\n" + _MEMBERS.replace(")\n    {", ") {") + "\n}\n",
    ".cs": "class V0StoreK0\n{\n" + _MEMBERS + "\n}\n",
    ".php": "<?php\n"
    + re.sub(r"\b(total|limit|at|first)\b(?!V0)", r"$\1", _c_like("function", "", "limit", "at = 0; at < limit; at++"))
    .replace(")\n{", ") {")
    .replace("     $", "    $"),
    ".go": """package W0

type V0StoreK0 struct {
	count int
	done  bool
	size  int
	name  string
	last  int
}

func countW0K0(limit int) int {
	total := K0
	for at := 0; at < limit; at++ {
		total = total + 3
	}
	return total
}

func (held *V0StoreK0) openW0(limit int) int {
	held.count = limit
	report(limit)
	held.size = K0
	report(held.size)
	return held.count
}

func tidyW0K0(limit int) int {
	first := limit + 2
	report(first)
	third := first * K0
	report(third)
	return third
}
""",
    ".rs": """pub fn count_W0_K0(limit: i64) -> i64 {
    let mut total = K0;
    for _ in 0..limit {
        total = total + 3;
    }
    return total;
}

impl V0StoreK0 {
    pub fn open_W0(&mut self, limit: i64) -> i64 {
        self.count = limit;
        report(limit);
        self.size = K0;
        report(self.size);
        return self.count;
    }
}

fn tidy_W0_K0(limit: i64) -> i64 {
    let first = limit + 2;
    report(first);
    let third = first * K0;
    report(third);
    return third;
}
""",
    ".rb": """def count_W0_K0(limit)
  total = K0
  limit.times do
    total = total + 3
  end
  report(total)
  total
end

class V0StoreK0
  def open_W0(limit)
    held = load(limit)
    report(held)
    @count = K0
    report(@count)
    held
  end
end

def tidy_W0_K0(limit)
  first = limit + 2
  report(first)
  third = first * K0
  report(third)
  third
end
""",
}
