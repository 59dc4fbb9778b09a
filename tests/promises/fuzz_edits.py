"""Targets: edits in files of others, what differs, anchors, and definitions in code."""

from __future__ import annotations

import functools
import json
import tomllib
from typing import Any

from fuzz_engine import Target
from fuzz_yard import as_text

from quire.anchors.definitions import Definitions
from quire.anchors.path_match import Files, covers, is_glob, pattern_fault, static_prefix
from quire.anchors.python_slices import cut_out
from quire.anchors.symbols import Unparsed, find_symbol, read_symbols
from quire.files.byte_edits import find_edits, undo_edits
from quire.files.digests import blob_id
from quire.files.jsonc_edit import append_item, remove_items, remove_member, set_member
from quire.files.jsonc_parser import parse, read_jsonc, same
from quire.files.marked_sections import Markers, find_section, place_section, remove_section
from quire.files.toml_edit import remove_table, set_table
from quire.files.toml_scanner import read_toml, scan_toml
from quire.layers.journal.line_diff import diff_lines, shortened
from quire.model.anchors import anchor_fault, normal_anchor
from quire.upkeep.guidance import without_guidance
from quire.upkeep.views.change_words import changes_in_words
from quire.upkeep.views.text_diff import compare

__all__ = ["TARGETS"]

_MARKS = Markers("<!-- memory:start -->", "<!-- memory:end -->")
_MARKERS = (_MARKS.start.encode(), _MARKS.end.encode())

# -- edits in files of others -------------------------------------------------------------------------------------


def _sections(data: bytes) -> object:
    found = find_section(data, _MARKS)
    if found.state == "damaged":
        try:
            place_section(data, _MARKS, "body")
        except ValueError:
            assert remove_section(data, _MARKS) == data, "what is damaged was touched"
            return found
        raise AssertionError("a damaged section was written over")
    placed = place_section(data, _MARKS, "one\ntwo")
    again = find_section(placed, _MARKS)
    assert (again.state, again.body) == ("present", "one\ntwo"), f"what was placed is not found: {again}"
    assert place_section(placed, _MARKS, "one\ntwo") == placed, "placing twice is not placing once"
    if found.state == "missing":
        assert placed.startswith(data), "a byte of somebody else changed"
        assert remove_section(placed, _MARKS).rstrip(b"\r\n") == data.rstrip(b"\r\n"), "removing is not the way back"
    else:
        assert placed.startswith(data[: found.begin])
        assert placed.endswith(data[found.finish :]), "a byte of somebody else changed"
    return found, without_guidance(data)


def _jsonc(said: str) -> object:
    value = read_jsonc(said)
    assert same(value, parse(said).value if hasattr(parse(said), "value") else read_jsonc(said))
    if not isinstance(value, dict):
        return value
    path = ("mcpServers", "quire")
    try:
        added = set_member(said, path, {"command": "quire"})
    except ValueError:
        return value
    wanted = json.loads(json.dumps(value)) if _is_plain(value) else None
    got = read_jsonc(added)
    assert got["mcpServers"]["quire"] == {"command": "quire"}, "what was set is not there"
    if wanted is not None:
        wanted.setdefault("mcpServers", {})["quire"] = {"command": "quire"}
        assert same(got, wanted), "another value changed"
    assert set_member(added, path, {"command": "quire"}) == added, "setting twice is not setting once"
    removed = remove_member(added, path)
    assert "quire" not in read_jsonc(removed)["mcpServers"]
    try:
        listed = append_item(said, ("hooks", "on"), {"run": "quire"})
    except ValueError:
        return value
    back = remove_items(listed, ("hooks", "on"), lambda item: item == {"run": "quire"})
    assert "quire" not in json.dumps(read_jsonc(back).get("hooks", ""), default=str) or "quire" in said
    return value


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def _toml(said: str) -> object:
    value = read_toml(said)
    scan_toml(said)
    names = ("mcp_servers", "quire")
    try:
        added = set_table(said, names, {"command": "quire", "args": ["a"]})
    except ValueError:
        return value
    got = tomllib.loads(added.removeprefix("\ufeff"))
    assert got["mcp_servers"]["quire"]["command"] == "quire", "what was set is not there"
    kept = tomllib.loads(added.removeprefix("\ufeff"))
    del kept["mcp_servers"]["quire"]
    was = tomllib.loads(said.removeprefix("\ufeff"))
    was.get("mcp_servers", {}).pop("quire", None)
    assert repr(was or {}) == repr({name: item for name, item in kept.items() if item or name in was}), "lost a value"
    removed = remove_table(added, names)
    assert "quire" not in tomllib.loads(removed.removeprefix("\ufeff")).get("mcp_servers", {})
    return value


def _splices(data: bytes) -> object:
    middle = len(data) // 2
    for before, after in ((data[:middle], data[middle:]), (data, data[:middle] + b"x\n" + data[middle:])):
        assert undo_edits(after, find_edits(before, after)) == before, "the way back leads elsewhere"
    return len(find_edits(data[:middle], data[middle:]))


def _diffs(data: bytes) -> object:
    middle = len(data) // 2
    before, after = data[:middle], data[middle:]
    texts = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
    shown = diff_lines(*texts, "a.md")
    assert (shown is None) == (texts[0] == texts[1])
    return compare("a.md", before, after), changes_in_words(before, after), shortened(shown or "")


# -- anchors and symbols ------------------------------------------------------------------------------------------

_PATHS = ["a", "a.py", "a/b.py", "src/queue.py", "src/q\u00fc/x.ts", "src/[id]/p.ts", "a(b)/c", "{a}", ".x/y", "\u2028"]


def _globs(anchor: str) -> object:
    fault = pattern_fault(anchor)
    found = list(Files(sorted(_PATHS)).at(anchor))
    for place, path in enumerate(sorted(_PATHS)):
        assert covers(anchor, path) == (place in found), f"{path!r} is covered one way and not the other"
    prefix = static_prefix(anchor)
    stored = normal_anchor(anchor)
    refused = anchor_fault(anchor)
    # A name that begins with a blank can be said as `./ a`, and stands by itself then.
    assert refused or stored != stored.strip() or normal_anchor(stored) == stored, "normal is not normal"
    return is_glob(anchor), fault, found, prefix, refused


def _symbols(ending: str, data: bytes) -> object:
    found = read_symbols(f"a.{ending}", data)
    if isinstance(found, Unparsed):
        return found
    for symbol in found[:5]:
        assert find_symbol(found, symbol.name) is not None
    if ending == "py":
        for symbol in found[:5]:
            cut = cut_out(data, symbol.name)
            if cut and not found.doubtful:
                assert cut[1] == symbol.digest, "what is cut out has another digest"
    return found


def _versions(data: bytes) -> object:
    """Two versions of a file: what was learnt from the first does not change what is found in the second."""
    first, _, second = data.partition(b"\0")
    first_id, second_id = (blob_id(text, "0" * 40) for text in (first, second))
    ids = {first_id: first, second_id: second}
    whole = read_symbols("a.py", second, ("A.m",))
    known = Definitions()
    known.find("a.py", "A.m", first_id, lambda: first)
    known.compare("a.py", second_id, ids.get, ("A.m",))
    found = known.digest("a.py", "A.m", second_id)
    if found and not isinstance(whole, Unparsed) and not whole.doubtful:
        symbol = find_symbol(whole, "A.m")
        assert symbol is not None, "found where it is not defined"
        assert symbol.digest == found, "found with another digest than in the whole file"
    return found


_METHOD = (
    b"@x\nclass A(B):\n    y: int = 1\n\n    @z(\n        1\n    )\n"
    b'    def m(self, *, a=1):\n        """d"""\n        return a\n'
)
_CODE: dict[str, bytes] = {
    "py": b'"""D."""\nimport os\n\n@x\nclass A(B):\n    y: int = 1\n\n    async def m(self, *, a=1) -> None:\n'
    b'        """d"""\n'
    b'        return f"{a!r:>{w}}"\n\nX = lambda: 0\ntype T = int\n\ndef f(): ...\n',
    "ts": b"export class A<T> extends B { #x = 1; get y(): X { return `a${b}` } }\nexport const f = async () => 1;\n"
    b"interface I { a?: number }\nenum E { A = 'x' }\n",
    "tsx": b"export function F() { return <div a='b'>{x} text &amp; more</div>; }\n",
    "js": b"module.exports = { a() {}, 'b-c': 1, [d]: 2 };\nfunction* g() {}\n",
    "go": b'package a\n\ntype T struct{ A int `json:"a"` }\n\nfunc (t *T) M() error { return nil }\nconst X = iota\n',
    "rs": b"pub struct A<'a>(&'a str);\nimpl<'a> A<'a> { pub fn m(&self) {} }\nmacro_rules! m { () => {} }\n",
    "java": b'class A { @X int f; <T> void m() throws E { String s = """\n  a\n"""; } enum B { C } }\n',
    "rb": b"module M\n  class A < B\n    def self.m(a, *b) = %w[a b]\n    X = <<~T\n      a\n    T\n  end\nend\n",
    "c": b"#define X(a) ((a)+1)\nstruct a { int b; };\nstatic int *f(void) { return 0; }\n",
    "cs": b'namespace A { record B(int C); class D { public string E => $"{x}"; } }\n',
    "php": b"<?php\nnamespace A;\nfinal class B { public function c(): ?int { return <<<X\na\nX; } }\n",
}

TARGETS: tuple[Target, ...] = (
    Target(
        "sections",
        _sections,
        lambda: [
            b"# A\n\n<!-- memory:start -->\nx\n<!-- memory:end -->\n\nrest\n",
            b"a\r\n```\r\n<!-- memory:start -->\r\n```\r\n",
            b"\xef\xbb\xbf<!-- memory:start -->\nx\n<!-- memory:end -->",
        ],
        "files.marked_sections upkeep.guidance clients.integration.whole_files",
    ),
    Target(
        "jsonc",
        as_text(_jsonc),
        lambda: [
            b'{\n  // c\n  "mcpServers": {\n    "a": {"command": "x"}, /* y */\n  },\n  "hooks": {"on": [1,]},\n}\n',
            b'\xef\xbb\xbf{"a":[],"mcpServers":{},"hooks":{"on":[{"run":"x"}]}}',
            b'{"hooks": {\r\n\t"on": []\r\n}}',
        ],
        "files.jsonc_edit files.jsonc_layout files.jsonc_members files.jsonc_parser",
        (ValueError,),
    ),
    Target(
        "toml",
        as_text(_toml),
        lambda: [
            b'a = 1\n[mcp_servers.x]\ncommand = "y" # c\nargs = ["a", """b"""]\n[mcp_servers.quire]\ncommand = \'z\'\n',
            b"x.y = {a = 1, b = [1979-05-27T07:32:00Z, 1e3]}\r\n[[t]]\r\n[t.u]\r\nv = '''\n[mcp_servers]\n'''\r\n",
        ],
        "files.toml_edit files.toml_scanner",
        (ValueError,),
    ),
    Target("splices", _splices, lambda: [b"a b c\nd e\nf\n" * 3, b"x\xff\r\ny"], "files.byte_edits"),
    Target(
        "diffs",
        _diffs,
        lambda: [b'{"a":1,"b":[1,2]}{"a":2,"b":[1]}', b"a\nb\nc\na\nc\nd\n" * 4],
        "layers.journal.line_diff upkeep.views.text_diff upkeep.views.change_words",
    ),
    Target(
        "globs",
        as_text(_globs),
        lambda: [b"src/**/*.py", b"a/{b,c}/[!x-z]*.ts", b"!(*.d).ts", b"+(a|b)/**/?.py#f", b"./a//b/", b"*(*(a)|b)*"],
        "anchors.path_match anchors.glob_parser anchors.glob_matcher anchors.glob_nodes anchors.resolve_anchor "
        "model.anchors",
        most=400,
    ),
    *(
        Target(
            f"symbols-{ending}",
            functools.partial(_symbols, ending),
            functools.partial(lambda code: [code], code),
            "anchors.symbols anchors.python_symbols"
            if ending == "py"
            else "anchors.symbols anchors.grammar_symbols anchors.grammar_tokens anchors.grammar_names "
            "anchors.grammar_literals",
        )
        for ending, code in _CODE.items()
    ),
    Target(
        "versions-of-a-file",
        _versions,
        lambda: [
            _METHOD + b"\0" + _METHOD.replace(b"a=1", b"a=2"),
            _METHOD + b"\0# moved\n" + _METHOD,
            _METHOD + b"\0" + _METHOD + b"        more()\n",
            _METHOD + b"        more()\n\0" + _METHOD,
        ],
        "anchors.definitions anchors.python_slices",
    ),
)
