"""Key paths: which files a session was about, and which never appear."""

from __future__ import annotations

from signal_hearing import agent, by_helper, edits, heard, reads, runs, signals, user


def test_changed_files_come_first_then_named_ones_and_the_most_frequent_of_each_first() -> None:
    found = signals(
        user("fix src/b.py"),
        reads("src/read.py"),
        edits("src/once.py"),
        edits("src/twice.py"),
        edits("src/twice.py"),
        agent("The trap is in `docs/named.md:12`; see src/b.py and src/b.py again."),
    )
    assert found.key_paths == ("src/twice.py", "src/once.py", "src/b.py", "docs/named.md")


def test_what_was_only_read_counts_where_little_else_does() -> None:
    assert signals(user("how does it work"), reads("a/x.py"), reads("a/x.py"), reads("a/y.py")).key_paths == ("a/x.py",)
    busy = [edits("a/1.py"), edits("a/2.py"), edits("a/3.py"), reads("a/x.py"), reads("a/x.py")]
    assert signals(user("do it"), busy).key_paths == ("a/1.py", "a/2.py", "a/3.py")


def test_nothing_outside_the_repository_and_nothing_absolute_appears() -> None:
    outside = edits("/etc/passwd", "~/notes.md", "../other/a.py", "…/b.py", "C:\\Users\\x\\c.py", "https://x.org/d.py")
    talk = agent("See /usr/lib/a.py, ~/b.py, ../c.py, https://example.org/d.py and file:///e.py for that.")
    assert signals(user("look"), outside, talk).key_paths == ()


def test_absolute_paths_below_the_root_are_told_from_there() -> None:
    found = signals(user("do it"), edits("/home/ada/repo/src/a.py", "/home/ada/repository/b.py"), root="/home/ada/repo")
    assert found.key_paths == ("src/a.py",)


def test_files_of_others_and_our_own_do_not_count() -> None:
    found = signals(
        user("do it"),
        edits("node_modules/x/a.js", ".git/config", ".agent-memory/state.json", ".memory/facts.jsonl", "a/b.js"),
    )
    assert found.key_paths == ("a/b.js",)


def test_a_name_without_a_folder_means_the_file_that_has_it() -> None:
    found = signals(
        user("@Form.tsx is broken"), edits("src/ui/Form.tsx"), agent("`Form.tsx` and `package.json` changed.")
    )
    assert found.key_paths == ("src/ui/Form.tsx", "package.json")


def test_names_from_code_and_versions_are_no_files() -> None:
    talk = agent("`queue.Jobs` calls `ctx.Done()`, version 1.2.3 of @scope/name/v1.2.3, e.g. a.b and 10.5.")
    assert signals(user("look"), talk).key_paths == ()


def test_a_shell_changes_files_too() -> None:
    found = signals(
        user("clean up"),
        runs("git rm src/old.py && mv a/x.ts b/y.ts"),
        runs("sed -i 's/a/b/' conf/app.toml"),
        runs("echo hi > out/log.txt"),
        runs("cat src/only_read.py"),
    )
    assert found.key_paths == ("src/old.py", "a/x.ts", "b/y.ts", "conf/app.toml", "out/log.txt")


def test_files_that_a_helper_changed_come_last() -> None:
    found = signals(
        user("go"), by_helper(edits("h/a.py")), by_helper(reads("h/b.py")), edits("m/a.py"), agent("Okay then.")
    )
    assert found.key_paths == ("m/a.py", "h/a.py")


def test_at_most_so_many() -> None:
    many = [edits(f"src/{number}.py") for number in range(40)]
    assert heard(user("go"), many, most=5).signals.key_paths == tuple(f"src/{number}.py" for number in range(5))
