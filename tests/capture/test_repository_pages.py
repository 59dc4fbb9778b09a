"""What is read of pages, manifests and sources: plain words, first paragraphs, purposes; nothing of what is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from repository_making import put

from cases import each
from quire.capture.repository.clean_text import are_alike, plain, said, sentence_of
from quire.capture.repository.documents import json_object, table_at, text_at, texts_at, toml_table
from quire.capture.repository.manifests import ManifestTarget, pnpm_members, read_manifest
from quire.capture.repository.pages import PAGES_MOST, described_paths, find_readme, read_pages
from quire.capture.repository.readme import first_paragraph, page_sections, title_of
from quire.capture.repository.scripts import plain_words
from quire.capture.repository.top_comments import introduction
from quire.capture.repository.tree import Tree, make_tree


def tree_of(root: Path, files: dict[str, Any]) -> Tree:
    return make_tree(str(put(root, files)), files)


# -- words ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("A **bold** and *soft* [link](http://x.y) here", "A bold and soft link here"),
        ("[![Build](b.svg)](ci) Takes ![i](x.png) orders", "Takes orders"),
        ("Keep `*code*` and `[x](y)` and snake_case_names", "Keep `*code*` and `[x](y)` and snake_case_names"),
        ("**[`memory`](x.md)** starts", "`memory` starts"),
        ("_Whole_ line<br/> with <b>tags</b> &amp; signs", "Whole line with tags & signs"),
        ("See <https://x.y/z>, [ref][1] and note[^2].", "See https://x.y/z, ref and note."),
        ("2 * 3 * 4 and a*b*c", "2 * 3 * 4 and a*b*c"),
        ("A :ref:`title <target>` of Sphinx", "A `title` of Sphinx"),
        ("a\n  b\t c", "a b c"),
    ],
)
def test_markdown_becomes_plain_words(markdown: str, words: str) -> None:
    assert plain(markdown) == words


def test_what_is_kept_has_no_secrets_and_nothing_hidden() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    assert token[:20] not in said(f"Use {token} for tests")
    assert said("a\u202eb") == "a\\u{202E}b"
    assert said("![only](image.png)") == ""
    assert said("\ufeff") == ""


def test_a_long_text_ends_after_a_sentence_or_a_word() -> None:
    assert said("First sentence here. " + "word " * 100, 60) == "First sentence here."
    assert said("word " * 100, 23) == "word word word word…"
    assert sentence_of("One is enough. Two is more.") == "One is enough."


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Write the cache runbook", "write the Cache Runbook!", True),
        ("Write the old cache runbook", "Write the cache runbook", True),
        ("Do step 1 of the plan", "Do step 2 of the plan", False),
        ("cat", "concatenate", False),
        ("!!!", "???", False),
    ],
)
def test_texts_are_alike_by_their_words(first: str, second: str, expected: bool) -> None:
    assert are_alike(first, second) is expected


# -- readmes --------------------------------------------------------------------------------


@each(
    ("text", "summary"),
    [
        ("# Harbor\n\nTakes orders.\n\nMore.\n", "Takes orders."),
        (
            "# Harbor\n\n[![b](x)](y) ![c](z)\n\n[Docs](a) | [Site](b)\n\nInvoices for *small* marinas.\n",
            "Invoices for small marinas.",
        ),
        ("Harbor\n======\n\nInvoices for marinas.\n", "Invoices for marinas."),
        ('<p align="center">\n  <img src="x">\n</p>\n\n# H\n\nInvoices for marinas.\n', "Invoices for marinas."),
        ("---\ntitle: x\n---\n# H\n\nInvoices for marinas.\n", "Invoices for marinas."),
        (
            "# H\n<!-- tool:entry v=1 start -->\nMachine words here.\n<!-- tool:entry end -->\n\nOurs come here.\n",
            "Ours come here.",
        ),
        (
            "# H\n<!-- memory:map:start -->\n## Map\nMachine words.\n<!-- memory:map:end -->\nOurs come here.\n",
            "Ours come here.",
        ),
        (
            "# H\n<!-- a start -->\nx\n<!-- b end -->\nMachine words.\n<!-- a end -->\nOurs come here.\n",
            "Ours come here.",
        ),
        ("# H\n<!-- open start -->\nOurs come here.\n", "Ours come here."),
        ("# H\n\n> Invoices for marinas.\n\n## Installation\n\nRun the installer.\n", "Invoices for marinas."),
        ("# H\n\n## Installation\n\nRun the installer.\n\n### Direct\n\nTake the script from here.\n", ""),
        (
            "# H\n\nYou can take the whole script from here:\n\n## Berths\n\nEvery berth is known.\n",
            "Every berth is known.",
        ),
        ("# H\n\n## Berths\n\nEvery berth has a number.\n", "Every berth has a number."),
        ("# H\n\n## Installation\n\nRun it.\n\n## About\n\nInvoices for marinas.\n", "Invoices for marinas."),
        ("# H\n\nFeatures:\n\n- one\n\nInvoices for marinas.\n", "Invoices for marinas."),
        ("# H\n\n```\ncode is no text\n```\n\n| a | b |\n|---|---|\n\n- item text here\n", ""),
        ("# 注文\n\n注文を取る。\n", "注文を取る。"),
        ("", ""),
    ],
)
def test_the_first_paragraph_that_says_something(text: str, summary: str) -> None:
    assert first_paragraph(page_sections(text)) == summary


def test_restructured_text_is_read_as_prose() -> None:
    text = (
        "======\nHarbor\n======\n\n.. image:: x.png\n   :alt: badge\n\nInvoices for ``small`` marinas.\n"
        "\nUsage\n-----\n\nRun.\n"
    )
    sections = page_sections(text, is_rest=True)
    assert title_of(sections) == "Harbor"
    assert first_paragraph(sections) == "Invoices for `small` marinas."
    assert [section.title for section in sections] == ["", "Harbor", "Usage"]


def test_a_readme_may_have_many_names(tmp_path: Path) -> None:
    assert (
        find_readme(tree_of(tmp_path / "a", {"readme.rst": "x", "Readme.md": "y", "docs/README.md": "z"}))
        == "Readme.md"
    )
    assert find_readme(tree_of(tmp_path / "b", {"README": "x"})) == "README"
    assert find_readme(tree_of(tmp_path / "c", {"src/README.md": "x"})) == ""
    assert find_readme(tree_of(tmp_path / "d", {"src/README.md": "x", "src/a/README.md": ""}), "src") == "src/README.md"


def test_the_most_telling_pages_are_read_first_and_not_too_many(tmp_path: Path) -> None:
    files = {f"docs/p{n:03}.md": "text" for n in range(PAGES_MOST + 20)}
    files |= dict.fromkeys(["docs/troubleshooting.md", "docs/architecture.md", "CONTRIBUTING.md", "README.md"], "text")
    files |= dict.fromkeys(["CHANGELOG.md", "docs/adr/0001-x.md", "docs/empty.md", "LICENSE.md"], "")
    pages = [page.path for page in read_pages(tree_of(tmp_path, files))]
    assert pages[:4] == ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/troubleshooting.md"]
    assert len(pages) == PAGES_MOST


def test_items_and_rows_describe_paths_that_exist(tmp_path: Path) -> None:
    text = (
        "# H\n\n- `src/a/`: takes orders\n- **`src/b`** – writes invoices,\n  and sends them\n- `src/gone`: not here\n"
        "- [`src/c`](src/c) - keeps berths\n\n| Folder | What |\n|---|---|\n| `src/d/` | Draws maps | no more |\n"
        "| `src/e`, `src/f` | Several at once |\n"
    )
    files = {"README.md": text, **{f"src/{name}/x.py": "" for name in "abcdef"}}
    tree = tree_of(tmp_path, files)
    assert described_paths(tree, read_pages(tree)) == {
        "src/a": "takes orders",
        "src/b": "writes invoices, and sends them",
        "src/c": "keeps berths",
        "src/d": "Draws maps",
    }


def test_only_lines_that_need_no_shell_become_commands() -> None:
    assert plain_words("bundle exec rake test") == ("bundle", "exec", "rake", "test")
    for line in (
        "make test; rm -rf x",
        "go test ./... | tee log",
        "npm test -- $ARGS",
        "tox -e 'a b'",
        "make test && x",
    ):
        assert plain_words(line) == ()


# -- sources --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.py", '#!/usr/bin/env python\n# coding: utf-8\n"""Takes orders.\n\nMore."""\nimport x\n', "Takes orders."),
        ("b.py", "'''Takes\norders.'''\n", "Takes orders."),
        ("c.py", 'import x\n"""No docstring."""\n', ""),
        ("d.py", 'r"Takes orders."\n', "Takes orders."),
        ("e.rs", "//! Takes orders\n//! by the dozen.\n//!\n//! More.\nuse x;\n", "Takes orders by the dozen."),
        ("f.go", "// Copyright 2020 X\n\n// Package f takes orders.\npackage f\n", "Package f takes orders."),
        ("g.go", "// stray comment\n\npackage g\n", ""),
        ("h.ts", "/* Copyright (c) 2020 */\n/**\n * Takes orders.\n * @module h\n */\nexport {}\n", "Takes orders."),
        ("i.js", "'use strict';\n// Takes orders.\nlet x;\n", "Takes orders."),
        ("j.js", "let x;\n// Not at the top.\n", ""),
        ("k.ts", "/** @file Takes orders. */\n", "Takes orders."),
        ("l.rb", "#!/usr/bin/ruby\n# frozen_string_literal: true\n# Takes orders.\nclass L\n", "Takes orders."),
        ("m.lua", "-- Takes orders.\nlocal m\n", "Takes orders."),
        ("n.sh", "#!/bin/sh\n# Takes orders.\nset -e\n", "Takes orders."),
        ("o.txt", "Takes orders.", ""),
        ("p.py", '"""SPDX-License-Identifier: MIT"""\n', ""),
    ],
)
def test_how_a_source_introduces_itself(name: str, text: str, words: str, tmp_path: Path) -> None:
    assert introduction(tree_of(tmp_path, {name: text}), name) == words


# -- manifests ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [[], None, 7, "x", {"a": 1}, True])
@pytest.mark.parametrize(
    "field", ["name", "description", "scripts", "bin", "main", "exports", "workspaces", "packageManager"]
)
def test_a_package_json_with_wrong_types_says_nothing_there(field: str, value: Any, tmp_path: Path) -> None:
    known = {"name": "harbor", "description": "Invoices."}
    found = read_manifest(tree_of(tmp_path, {"package.json": {**known, field: value}}), "package.json")
    assert found is not None
    if field not in ("name",):
        assert found.name == "harbor"
    assert all(isinstance(text, str) for text in (found.name, found.description, found.package_manager))
    assert all(isinstance(target.value, str) for target in found.targets)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package.json", "{oops"),
        ("package.json", "[" * 100_000),
        ("package.json", b"\xff\xfe\x00"),
        ("package.json", '"text"'),
        ("pyproject.toml", "[project\nname='x'"),
        ("pyproject.toml", "a=" + "[" * 5_000),
        ("pyproject.toml", "a." * 100_000 + "b=1"),
        ("pyproject.toml", "[project]\nname = 3\nscripts = ['x']\ndescription = {a=1}\n"),
        ("Cargo.toml", "[package]\nversion = {workspace=true}\n[[bin]]\npath = 3\n[workspace]\nmembers='x'\n"),
        ("Cargo.toml", "bin = 'x'\npackage = []\n"),
        ("setup.cfg", "no section\n"),
        ("setup.cfg", "[metadata]\nname\n goes on\n"),
        ("setup.cfg", "[metadata\nname=x"),
        ("go.mod", "nothing"),
        ("pubspec.yaml", "- a\n- b\n"),
    ],
)
def test_a_broken_manifest_says_nothing(name: str, text: str | bytes, tmp_path: Path) -> None:
    found = read_manifest(tree_of(tmp_path, {name: text}), name)
    assert found is not None
    assert (found.name, found.description, found.targets, found.members, found.scripts) == ("", "", (), (), {})


def test_what_manifests_name(tmp_path: Path) -> None:
    files = {
        "package.json": {
            "name": "@h/orders",
            "bin": "./cli.js",
            "main": "a.js",
            "exports": {".": {"import": "./m.mjs", "require": ["./r.cjs"]}, "./x": "./x.js"},
        },
        "pyproject.toml": '[project]\nname="orders"\nversion="1.2"\n[project.scripts]\norders="orders.cli:main"\n',
        "setup.cfg": "[metadata]\nname = old\n[options.entry_points]\nconsole_scripts =\n    old = old.cli:run\n",
        "Cargo.toml": '[package]\nname="orders"\n[[bin]]\nname="o"\npath="src/o.rs"\n[lib]\npath="src/l.rs"\n',
        "go.mod": "module example.com/team/orders/v3 // x\n",
        "pubspec.yaml": "name: orders\ndescription: 'Takes orders.'\n",
    }
    tree = tree_of(tmp_path, files)
    found = {name: read_manifest(tree, name) for name in files}
    assert {name: manifest.name for name, manifest in found.items() if manifest} == {
        **dict.fromkeys(files, "orders"),
        "package.json": "@h/orders",
        "setup.cfg": "old",
    }
    assert [target for manifest in found.values() if manifest for target in manifest.targets] == [
        ManifestTarget("bin", "orders", "./cli.js"),
        ManifestTarget("main", "main", "a.js"),
        ManifestTarget("exports", ".", "./m.mjs"),
        ManifestTarget("exports", ".", "./r.cjs"),
        ManifestTarget("exports", "./x", "./x.js"),
        ManifestTarget("command", "orders", "orders.cli:main"),
        ManifestTarget("command", "old", "old.cli:run"),
        ManifestTarget("binary", "o", "src/o.rs"),
        ManifestTarget("library", "orders", "src/l.rs"),
    ]
    assert read_manifest(tree, "missing/package.json") is None
    assert read_manifest(tree, "other.json") is None


def test_the_packages_of_pnpm_are_read_line_by_line() -> None:
    text = "# c\npackages:\n- a/*\n  - 'b/*' # c\n  - \"c d\"\n\n  # - no\ncatalog:\n  - not/*\n"
    assert pnpm_members(text) == ["a/*", "b/*", "c d"]


def test_values_of_another_kind_are_not_there() -> None:
    value = json_object('{"a": {"b": [" x\\n y ", 3, ""]}, "c": 4}')
    assert texts_at(value, "a", "b") == ["x y"]
    assert (text_at(value, "c"), text_at(value, "a"), text_at(value, "a", "b", "c")) == ("", "", "")
    assert (table_at(value, "c"), toml_table("x"), json_object("[]")) == ({}, {}, {})


def test_many_long_keys_do_not_take_long() -> None:
    toml_table(("x={" + "a." * 1_900 + "b=1}\n") * 100)
