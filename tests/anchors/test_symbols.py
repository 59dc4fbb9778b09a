"""Symbols: what a file defines, what changes a digest, and what does not."""

# The samples are easier to compare on one line each.
# ruff: noqa: E501

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from quire.anchors.languages import GRAMMARS, PYTHON
from quire.anchors.symbols import LIMIT, Symbol, Unparsed, find_symbol, has_grammar, read_symbols
from thorough import examples, some

# For each file: a name, its definition, the same written otherwise, and real changes as (old, new).
CASES: dict[str, tuple[str, str, str, list[tuple[str, str]]]] = {
    "a.py": (
        "push",
        '@cached\ndef push(x: int, *, y=(1, 2)) -> str:\n    """Says\n    much."""\n    del (a, b)\n    return f"{x:>3}" + \'s\'\n',
        '@cached  # why\ndef push(\n    x: int,\n    *,\n    y=(1, 2),\n) -> str:\n    """Says\n        much."""\n\n    del a, b\n    return (f\'{x:>3}\' + "s")\n',
        [("@cached\n", ""), ("int", "str"), ("*, ", ""), ("(1, 2)", "(2, 1)"), (">3", ">4"), ("+", "-"), ("'s'", "'t'"), ("much", "little")],
    ),
    "a.js": (
        "push",
        "export const push = async (x) => { if (a && b && c) return {'k': 'it\\'s', 2: 0.5}; return new A; }",
        "export const push = async x => {\n  // why\n  if (a && (b && c)) return { k: \"it's\", '2': .50, };\n  return (new A())\n};\n",
        [("export ", ""), ("const", "let"), ("async ", ""), ("&& c", "|| c"), ("s'", "z'"), ("0.5", "0.6"), ("new A", "new B")],
    ),
    "a.jsx": (
        "View",
        'function View() { return <p id="a">some long text <b>x</b>{y}</p>; }',
        "function View() {\n  return (\n    <p id='a'>\n      some long\n      text{\" \"}\n      <b>x</b>\n      {y}\n    </p>\n  );\n}\n",
        [("long text", "longtext"), ("text <b>", "text<b>"), ('"a"', '"b"'), ("{y}", "{z}")],
    ),
    "a.ts": (
        "Queue",
        "export interface Queue<T> { readonly a: string, b?: (number | null); c(x: T): void }",
        "export interface Queue<T> {\n  readonly a: string;\n  b?: | number | null; // why\n  c(x: T): void;\n}\n",
        [("readonly ", ""), ("string", "number"), ("?", ""), ("null", "undefined"), ("void", "T"), ("<T>", "<T = 1>")],
    ),
    "a.tsx": ("f", "const f = (x: A) => <A b={'c'}/>", "const f = (x: A) => (\n  <A b=\"c\" />\n);", [("x: A", "x: B"), ("'c'", "'d'")]),
    "a.go": (
        "Queue.Push",
        "package a\nfunc (q *Queue) Push(x int, y string) error { for ; x > 0; { x-- }; return f(x, 0X1F) }\n",
        "package a\n\n// Push pushes.\nfunc (q *Queue) Push(\n\tx int,\n\ty string,\n) error {\n\tfor (x > 0) {\n\t\tx--\n\t}\n\treturn f(x, 0x1f)\n}\n",
        [("*Queue", "Queue"), ("int", "int8"), (">", ">="), ("--", "++"), ("f(x, ", "f(y, "), ("error", "bool")],
    ),
    "a.rs": (
        "Queue.push",
        "impl Queue { pub fn push(&mut self, a: u8) -> () { let f = |x| x + 1; match a { 1 => f(a), | 2 | 3 => { f(2) } _ => vec!(0; 2), } return ((a)) } }",
        "impl Queue {\n    /// Says\n    pub fn push(&mut self, a: u8) {\n        let f = |x| {\n            x + 1\n        };\n        match a {\n            1 => {\n                f(a)\n            }\n            2 | 3 => f(2),\n            _ => vec![0; 2],\n        }\n        return a;\n    }\n}\n",
        [("pub ", ""), ("mut ", ""), ("u8", "u16"), ("x + 1", "x - 1"), ("x + 1;", "{ x + 1; };"), ("| 3", "| 4"), ("0; 2", "0, 2")],
    ),
    "A.java": (
        "Queue.push",
        'class Queue { @Override static public int push(int a, String b) { if (a > 1) { return (a); } return f(b, "x"); } }',
        'class Queue {\n  // why\n  @Override\n  public static int push(\n      int a, String b) {\n    if ((a > 1)) {\n      return a;\n    }\n    return f(b, /* c */ "x");;\n  }\n}\n',
        [("public ", ""), ("static ", ""), ("@Override ", ""), (">", "<"), ('"x"', '"y"'), ("f(b", "f(a"), ("int a, String b", "String b, int a")],
    ),
    "a.c": (
        "push",
        'static const char *push(int a) { return f("one two", a, 1) ; }',
        'static const char* push(int a)\n{\n    /* why */\n    return (f("one "\n             "two", a, 1));\n}\n',
        [("static ", ""), ("const ", ""), ("*push", "push"), ("int", "long"), ("two", "too"), ("a, 1", "1, a")],
    ),
    "a.cpp": (
        "ns.Queue.push",
        "namespace ns { template <class T> bool Queue<T>::push(T &x) const { using b::c; using a::d; return x == 1; } }",
        "namespace ns {\ntemplate <class T>\nbool Queue<T>::push(T& x) const {  // why\n  using a::d;\n  using b::c;\n  return x == 1;\n}\n}  // namespace ns\n",
        [("const ", ""), ("&x", "x"), ("==", "!="), ("class T", "int T"), ("a::d", "a::e")],
    ),
    "a.h": ("MAX", "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n", "#define MAX(a, b) \\\n  ((a)>(b) ? (a) : (b))\n", [(">", ">="), (": (b)", ": b1")]),
    "a.cs": (
        "Queue.Push",
        'namespace N { class Queue { [A] public static int Push(int a, ref string b) { return (a * 2) + F(b, "x"); } } }',
        'namespace N\n{\n    class Queue\n    {\n        // why\n        [A]\n        public static int Push(int a, ref string b)\n        {\n            return a * 2 + F(b, "x");\n        }\n    }\n}\n',
        [("public", "private"), ("static ", ""), ("ref ", ""), ("[A] ", ""), ("+", "-"), ('"x"', '"y"')],
    ),
    "a.rb": (
        "A.Queue.push",
        "module A\nclass Queue\nprivate def push(x, y: 1)\n  return [x, 'b'] if y > 1\nend\nend\nend\n",
        "module A\n  class Queue\n    # why\n    private def push(x, y: 1)\n      return [x,\n              'b'] if (y > 1)\n    end\n  end\nend\n",
        [("private ", ""), ("y: 1", "y: 2"), (">", "<"), ("'b'", "'c'"), ("if", "unless")],
    ),
    "a.php": (
        "Queue.push",
        "<?php\nclass Queue { final public static function push(int $a, ?string $b = 'x'): int { return ($a) + f($b, [1, 2]); } }\n",
        "<?php\nclass Queue\n{\n    /** why */\n    final public static function push(\n        int $a,\n        ?string $b = 'x',\n    ): int {\n        return $a + f($b, [1, 2,]);\n    }\n}\n",
        [("final ", ""), ("public", "private"), ("?string", "string"), ("'x'", "'y'"), ("+", "-"), ("1, 2", "2, 1"), ("): int", "): string")],
    ),
}  # fmt: skip

# For each file: everything it defines, with the lines.
LISTED: dict[str, tuple[str, list[tuple[str, int, int]]]] = {
    "a.py": (
        "import os\nLIMIT: int = 3\na, (b, *c) = f()\n\n\n@one\n@two\nclass Queue:\n    size = 1\n\n    @property\n    def n(self):\n        x = 1\n        def inner(): ...\n        return x\n\n    @n.setter\n    def n(self, v): ...\n",
        [("LIMIT", 2, 2), ("a", 3, 3), ("b", 3, 3), ("c", 3, 3), ("Queue", 6, 18), ("Queue.size", 9, 9), ("Queue.n", 11, 18), ("Queue.n.inner", 14, 14)],
    ),
    "a.ts": (
        "export default class Q {\n  #n = 1;\n  @dec()\n  async push() { const z = 1; }\n}\nnamespace N.M {\n  export function h(): void {}\n}\nfunction o(a: string): void;\nfunction o(a: any) {}\nexports.e = function () {};\nconst { x, y: [w] } = v;\n",
        [("Q", 1, 5), ("Q.n", 2, 2), ("Q.push", 3, 4), ("N.M", 6, 8), ("N.M.h", 7, 7), ("o", 9, 10), ("e", 11, 11), ("x", 12, 12), ("w", 12, 12)],
    ),
    "a.go": (
        "package a\ntype Q[T any] struct {\n\titems []T\n}\nconst (\n\tA = iota\n\tB\n)\nvar e, f = 1, 2\nfunc g() { var local = 1; _ = local }\n",
        [("Q", 2, 4), ("Q.items", 3, 3), ("A", 5, 8), ("B", 5, 8), ("e", 9, 9), ("f", 9, 9), ("g", 10, 10)],
    ),
    "a.rs": (
        "#[derive(Debug)]\n// why\n#[serde]\npub struct Q<T> { a: u8 }\nimpl<T> Drop for Q<T> {\n    fn drop(&mut self) {}\n}\nmod m { pub const K: u8 = 1; }\nmacro_rules! mm { () => {} }\n",
        [("Q", 1, 7), ("Q.a", 4, 4), ("Q.drop", 6, 6), ("m", 8, 8), ("m.K", 8, 8), ("mm", 9, 9)],
    ),
    "A.java": (
        "package a.b;\nclass Q {\n  int a, b;\n  Q() {}\n  int f() { int z = 1; return z; }\n  int f(int a) { return 1; }\n  enum E { ONE }\n}\nrecord R(int a) {}\n",
        [("Q", 2, 8), ("Q.a", 3, 3), ("Q.b", 3, 3), ("Q.Q", 4, 4), ("Q.f", 5, 6), ("Q.E", 7, 7), ("Q.E.ONE", 7, 7), ("R", 9, 9)],
    ),
    "a.hpp": (
        "namespace a::b {\ntemplate <class T>\nclass Q {\n  ~ Q();\n  bool operator ==(int) const;\n};\n}\na::b::Q::~Q() {}\ntypedef struct { int m; } Anon;\nint *fn(int x);\n#define ONE 1\n",
        [("a.b", 1, 7), ("a.b.Q", 2, 6), ("a.b.Q.~Q", 4, 8), ("a.b.Q.operator==", 5, 5), ("Anon", 9, 9), ("Anon.m", 9, 9), ("fn", 10, 10), ("ONE", 11, 11)],
    ),
    "a.cs": (
        "namespace A.B {\nclass Q {\n  int a;\n  public int P { get; set; }\n  event Action E;\n  void F() { void L() {} }\n}\n}\n",
        [("Q", 2, 7), ("Q.a", 3, 3), ("Q.P", 4, 4), ("Q.E", 5, 5), ("Q.F", 6, 6), ("Q.F.L", 6, 6)],
    ),
    "a.rb": (
        "class A::B\n  X = 1\n  def self.make; end\n  def z=(v); end\n  def z; end\nend\n",
        [("A.B", 1, 6), ("A.B.X", 2, 2), ("A.B.make", 3, 3), ("A.B.z", 4, 5)],
    ),
    "a.php": (
        "<?php\nnamespace A;\nconst X = 1;\nfunction f() {}\nclass Q {\n  const K = 2;\n  private $p = 1;\n}\nenum E { case One; }\n",
        [("X", 3, 3), ("f", 4, 4), ("Q", 5, 8), ("Q.K", 6, 6), ("Q.p", 7, 7), ("E", 9, 9), ("E.One", 9, 9)],
    ),
}  # fmt: skip


def _read(path: str, text: str) -> list[Symbol]:
    found = read_symbols(path, text.encode())
    assert isinstance(found, list), found
    return found


def _digest(path: str, text: str, name: str) -> str:
    symbol = find_symbol(_read(path, text), name)
    assert symbol is not None, name
    return symbol.digest


@each("path", CASES)
def test_layout_and_comments_do_not_change_a_digest(path: str) -> None:
    name, original, otherwise, _ = CASES[path]
    assert _digest(path, original, name) == _digest(path, otherwise, name)
    assert _digest(path, original, name) == _digest(path, original.replace("\n", "\r\n"), name)


@each(("path", "old", "new"), [(path, *change) for path, case in CASES.items() for change in case[3]])
def test_a_real_change_changes_the_digest(path: str, old: str, new: str) -> None:
    name, original, _, _ = CASES[path]
    assert old in original
    assert _digest(path, original, name) != _digest(path, original.replace(old, new), name)


@each("path", CASES)
def test_a_renamed_definition_keeps_its_digest(path: str) -> None:
    name, original, _, _ = CASES[path]
    *scope, last = name.split(".")
    renamed = original.replace(last, "Other")
    assert _digest(path, original, name) == _digest(path, renamed, ".".join([*scope, "Other"]))


@pytest.mark.parametrize("path", LISTED)
def test_everything_that_a_file_defines_is_listed(path: str) -> None:
    text, expected = LISTED[path]
    assert [(symbol.name, symbol.first_line, symbol.last_line) for symbol in _read(path, text)] == expected


def test_a_recursive_function_can_be_renamed() -> None:
    assert _digest("a.py", "def f(n): return n and f(n - 1)\n", "f") == _digest(
        "a.py", "def g(n): return n and g(n - 1)\n", "g"
    )


def test_members_that_are_only_a_name_differ() -> None:
    text = "enum E { A, B }"
    assert _digest("a.rs", text, "E.A") != _digest("a.rs", text, "E.B")


def test_definitions_of_one_name_are_one_symbol() -> None:
    one, other = "def f(a): ...\n", "def f(b): ...\n"
    both = _digest("a.py", one + other, "f")
    assert both not in (_digest("a.py", one, "f"), _digest("a.py", other, "f"))
    assert both != _digest("a.py", other + one, "f")


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("Queue.push", "Queue.push"),
        ("Queue::push", "Queue.push"),
        ("Queue#push", "Queue.push"),
        ("push", "push"),
        ("pop", "Queue.pop"),
        ("ush", None),
        ("Queue.push.x", None),
        ("", None),
        ("#", None),
    ],
)
def test_a_symbol_is_found_by_its_name_or_its_last_parts(asked: str, found: str | None) -> None:
    symbols = _read("a.py", "class Queue:\n    def push(self): ...\n    def pop(self): ...\ndef push(): ...\n")
    symbol = find_symbol(symbols, asked)
    assert (symbol.name if symbol else None) == found


def test_last_parts_that_several_symbols_share_mean_all_of_them() -> None:
    text = "class A:\n    def f(self): return 1\n\nclass B:\n    def f(self): return 2\n"
    symbol = find_symbol(_read("a.py", text), "f")
    assert symbol is not None
    assert (symbol.name, symbol.first_line, symbol.last_line) == ("f", 2, 5)
    assert symbol.digest != _digest("a.py", text.replace("return 2", "return 3"), "f")


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.py", b"a = 1\n\ndef f(:\n", "has a syntax error on line 3"),
        ("a.py", b"# coding: nonsense\n", "has a syntax error"),
        ("a.py", b"a = '\xff'\n", "has a syntax error"),
        ("a.py", b"(" * 5000, "has a syntax error on line 1"),
        ("a.xyz", b"", "is in a language without a grammar here (.xyz)"),
        ("Makefile", b"", "is in a language without a grammar here (no extension)"),
        ("a.py", b"a = '\0'", "is not text"),
        ("a.rs", "fn f() {}".encode("utf-16"), "is not text"),
        ("a.c", b" " * (LIMIT + 1), "is larger than 1 MB"),
        ("a.go", b" " * (LIMIT + 1), "is larger than 1 MB"),
    ],
)
def test_what_cannot_be_read_says_why(path: str, data: bytes, reason: str) -> None:
    found = read_symbols(path, data)
    assert isinstance(found, Unparsed)
    assert found.reason.startswith(reason)


@pytest.mark.parametrize(
    ("path", "data", "whole", "line"),
    [
        ("a.js", b"let a\nfunction (\n", ["a"], 2),
        ("a.ts", b"function f() { return 1 }\nlet = = ;\nfunction g() {}\n", ["f"], 2),
        ("a.c", b"int f(void) { return 1; }\nstatic int CALL cb(int a) { return }\n", ["f"], 2),
    ],
)
def test_what_is_whole_in_a_broken_file_is_read_and_the_break_is_named(
    path: str, data: bytes, whole: list[str], line: int
) -> None:
    found = read_symbols(path, data)
    assert not isinstance(found, Unparsed)
    assert ([symbol.name for symbol in found], found.broken_line) == (whole, line)


def test_a_missing_grammar_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_ruby", None)
    assert read_symbols("a.rb", b"") == Unparsed(
        "cannot be parsed here, because the package tree-sitter-ruby is not installed"
    )


def test_c_lists_what_is_sound_beside_what_is_not() -> None:
    symbols = _read("a.c", "int sound(void) { return 1; }\nint broken(void) { return (((; }\n")
    assert find_symbol(symbols, "sound")
    assert not find_symbol(symbols, "broken")


def test_a_header_may_be_c_or_cpp() -> None:
    assert find_symbol(_read("a.h", "struct A { int b; };"), "A.b")
    assert find_symbol(_read("a.h", "class A { public: int b() const; };"), "A.b")


def test_encodings_are_respected() -> None:
    latin = "# coding: latin-1\nNAME = 'é'\n"
    plain = find_symbol(_read("a.py", latin.replace("latin-1", "utf-8")), "NAME")
    for data in (latin.encode("latin-1"), b"\xef\xbb\xbf" + latin.replace("latin-1", "utf-8").encode()):
        found = read_symbols("a.py", data)
        assert isinstance(found, list)
        assert find_symbol(found, "NAME") == plain
    assert _digest("a.js", "\ufefflet a = 1", "a") == _digest("a.js", "let a = 1", "a")


VARIED = '''
import asyncio
type_ = int
@decorate(x=1, *a, **k)
async def varied(a, /, b: "int" = 1, *args, c: list[int] | None = None, **kwargs) -> dict[str, int]:
    """Doc
       string."""
    global counter
    async with open(a) as f, b: pass
    async for x in y: await x
    f"{a!r:>{b}} {c=} {{}}" "tail" f'{d:}'
    match a:
        case {"k": [1, *rest], **more} if (n := len(rest)) > 1: return {**more, "n": n}
        case Point(x=0) | None: raise ValueError from None
        case _: del (a, b)
    first, *others = [lambda q, *r, s=2: (yield q) for q in args if not q < 3 <= 4]
    try: x[1:2, ..., ::3] @= 0xFFFFFFFFFFFFFFFFFFFF
    except* (OSError, ValueError) as e: nonlocal_ = 1e400, 1j, b"\\x00", "\\0", u"u", not True
    def nested(): return nested
    class Inner(Base, metaclass=M): z: int
'''  # fmt: skip

GOLDEN = {
    "type_": "7f79d1df930f401bf67394e74c749845",
    "varied": "107331654ab9bed156be687306074577",
    "varied.nested": "1286a2acc9abaaf9373ab86152aecb7c",
    "varied.Inner": "a711747b7df6600ab3bad0c6721c3702",
}


def test_digests_are_the_same_on_every_version() -> None:
    """Written down once: another Python must come to the same."""
    assert {symbol.name: symbol.digest for symbol in _read("a.py", VARIED)} == GOLDEN


@pytest.mark.proof
def test_the_formatter_changes_no_digest_of_the_standard_library(tmp_path: Path) -> None:
    library = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    sample = [path for path in library if 2_000 < path.stat().st_size < 60_000][::3][:40]
    before = {path.name: read_symbols(path.name, path.read_bytes()) for path in sample}
    for path in sample:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    ruff = Path(sys.executable).with_name("ruff")
    subprocess.run([ruff, "format", "--quiet", "--isolated", tmp_path], check=True)
    changed = 0
    for name, symbols in before.items():
        data = (tmp_path / name).read_bytes()
        after = read_symbols(name, data)
        assert isinstance(symbols, list)
        assert isinstance(after, list)
        assert {s.name: s.digest for s in symbols} == {s.name: s.digest for s in after}
        changed += [s.first_line for s in symbols] != [s.first_line for s in after]
    assert changed > 10


EXTENSIONS = sorted([*GRAMMARS, *PYTHON])


@each("extension", EXTENSIONS)
def test_a_grammar_is_known_by_the_extension(extension: str) -> None:
    assert has_grammar(f"src/a.{extension.upper()}")
    assert not has_grammar(f"src/{extension}")
    assert not has_grammar(f"src.{extension}/a")


@settings(max_examples=examples(400), deadline=None)
@given(
    st.sampled_from(EXTENSIONS),
    st.one_of(
        st.binary(max_size=200),
        st.lists(st.sampled_from(["class A {", "def f(", "(", "}", "<", '"', "\n", "a", "=", ";", "fn ", "<?php "]))
        .map("".join)
        .map(str.encode),
    ),
)
def test_no_bytes_make_it_raise(extension: str, data: bytes) -> None:
    found = read_symbols(f"a.{extension}", data)
    assert isinstance(found, (list, Unparsed))


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("extension", some(["py", "ts", "go", "rs", "java", "cpp", "cs", "rb", "php"], 5))
def test_endless_nesting_ends(extension: str) -> None:
    """In a process of its own, because a parser that overflows its stack takes everything with it."""
    code = (
        "from quire.anchors.symbols import read_symbols\n"
        f"for unit in ('(', 'a.', 'A<B,'): read_symbols('a.{extension}', unit.encode() * 20_000)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@each("path", CASES)
def test_to_be_asked_for_names_finds_what_reading_everything_finds(path: str) -> None:
    text = CASES[path][0]
    everything = _read(path, text)
    names = [symbol.name for symbol in everything]
    names += [name.rpartition(".")[2] for name in names] + ["nothing_of_this_name"]
    together = read_symbols(path, text.encode(), names)
    assert isinstance(together, list)
    for name in names:
        alone = read_symbols(path, text.encode(), [name])
        assert isinstance(alone, list)
        assert find_symbol(alone, name) == find_symbol(everything, name) == find_symbol(together, name)


def test_names_in_other_letters_and_in_statements_are_found() -> None:
    text = (
        "if a:\n    try:\n        def f(): return 1\n    except E:\n        x = y = 2\n    else:\n        z: int = 3\n"
        "match a:\n    case 1:\n        class C:\n            def f(self):\n                def g(): pass\n"
        "def ﬁne(): return 4\n"
    )
    everything = _read("a.py", text)
    for name in ("f", "x", "y", "z", "C", "C.f", "C.f.g", "g", "fine"):
        found = read_symbols("a.py", text.encode(), [name])
        assert isinstance(found, list)
        assert find_symbol(found, name) == find_symbol(everything, name) is not None
