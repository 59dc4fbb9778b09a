"""Secrets are refused, ordinary project text is not, and no report gives a secret away."""

import base64
import random
import string
from pathlib import Path
from uuid import UUID

import pytest
from benchmarks.secret_forms import forms
from hypothesis import given, settings
from hypothesis import strategies as st

from promised import proves
from quire.guard.secrets import SecretFinding, find_secrets
from quire.guard.token_formats import NEAR_RULES, RULES

AN = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
SHARED = Path(__file__).parents[2].parent / "shared"

Corpus = list[tuple[str, str, str, str]]  # text, rule, public prefix, value


def drawn(rng: random.Random, size: int, alphabet: str = AN) -> str:
    return "".join(rng.choices(alphabet, k=size))


def generated_lookalikes() -> list[str]:
    rng = random.Random(7)
    words = ["task", "disk", "risk", "kiosk", "worker", "retry", "invoice", "queue", "token", "secret", "key", "model"]
    texts: list[str] = []
    for _ in range(12):
        slug = "-".join(rng.choices(words, k=7))
        b64 = base64.b64encode(rng.randbytes(64)).decode()
        sha = drawn(rng, 40, HEX)
        texts += [
            f"content_hash: sha256:{drawn(rng, 64, HEX)}",
            f"fixed in {sha} and reverted in {sha[:12]}",
            f'"integrity": "sha512-{b64}"',
            f"etag {drawn(rng, 32, HEX)}",
            str(UUID(int=rng.getrandbits(128), version=4)),
            "01" + drawn(rng, 24, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
            f"feature.{slug}",
            f"rel.feature-{slug}-depends-on-decision-{slug}",
            f'"body_path": "memory/features/{slug}.md"',
            f"https://cdn.example.com/assets/{slug}-{drawn(rng, 8)}.js",
        ]
    return texts


@pytest.fixture(scope="session")
def lookalikes() -> list[str]:
    """Ordinary project text that resembles a secret."""
    written = (Path(__file__).parent / "lookalikes.txt").read_text(encoding="utf-8").splitlines()
    return written + generated_lookalikes()


def certain(text: str) -> list[SecretFinding]:
    return [finding for finding in find_secrets(text) if finding.certain]


@proves("P9.1", "G10", "G11")
def test_at_least_98_of_100_secrets_are_refused(corpus: Corpus) -> None:
    missed = [(rule, text) for text, rule, _, _ in corpus if not certain(text)]
    assert len(corpus) >= 150
    assert len(missed) <= len(corpus) * 0.02, missed


def test_every_rule_is_proved_by_three_secrets_it_names(corpus: Corpus) -> None:
    named: dict[str, int] = {}
    for text in (*(sample[0] for sample in corpus), *(made.text for turn in range(3) for made in forms(turn))):
        for rule in {finding.rule for finding in certain(text)}:
            named[rule] = named.get(rule, 0) + 1
    wanted = {rule.id for rule in RULES} | {rule.id for rule in NEAR_RULES}
    wanted |= {"url-password", "authorization-header", "discord-token", "command-password", "file-password"}
    wanted |= {"assigned-password", "assigned-secret", "assigned-token", "assigned-key"}
    assert {rule: named.get(rule, 0) for rule in wanted if named.get(rule, 0) < 3} == {}


def test_a_secret_is_reported_under_its_own_name(corpus: Corpus) -> None:
    wrong = [
        (rule, [finding.rule for finding in certain(text)])
        for text, rule, _, _ in corpus
        if not any(finding.rule.startswith(rule) for finding in certain(text))
    ]
    assert len(wrong) <= len(corpus) * 0.02, wrong


@proves("P9.2", "G10")
def test_no_report_shows_more_than_the_public_prefix_and_two_characters(corpus: Corpus) -> None:
    for text, _, prefix, value in corpus:
        for finding in find_secrets(text):
            if finding.masked.startswith("…"):
                assert finding.masked.strip("… ()characters").isdigit()
            else:
                shown = finding.masked.removesuffix("…")
                assert value.startswith(shown) or shown.startswith(prefix), finding
                assert len(shown) <= len(prefix) + 2, finding
            assert value not in repr(finding)


@proves("P9.1", "G10")
def test_ordinary_project_text_raises_no_alarm(lookalikes: list[str]) -> None:
    alarms = [(text, finding) for text in lookalikes for finding in find_secrets(text)]
    assert len(lookalikes) >= 300
    assert [alarm for alarm in alarms if alarm[1].certain] == []
    assert len(alarms) <= len(lookalikes) * 0.01, alarms


def test_ordinary_project_text_in_one_document_raises_no_alarm(lookalikes: list[str]) -> None:
    assert certain("\n".join(lookalikes)) == []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded stores are not beside this checkout")
def test_recorded_stores_raise_no_alarm() -> None:
    stores = SHARED / "fixtures" / "graph"
    paths = [path for end in ("json", "jsonl", "md") for path in stores.glob(f"*/repo/.memory/**/*.{end}")]
    assert len(paths) > 100
    alarms = [(path.name, certain(path.read_text(encoding="utf-8"))) for path in paths]
    assert [alarm for alarm in alarms if alarm[1]] == []


def test_what_the_original_program_refused_is_refused() -> None:
    refused = ["ghp_" + "a1B2" * 10, "AKIA" + "ABCD1234" * 2, "sk_live_" + "abcd1234" * 3]
    refused += ['password = "{}"'.format("hunter2" * 2), "-----BEGIN RSA PRIVATE" + " KEY-----"]
    assert [text for text in refused if not certain(text)] == []


def test_a_suspicion_is_reported_but_not_certain() -> None:
    header, payload = "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxIn0"
    for text in (
        "value Zx9Qw3Er5Ty7Ui1Op4As6Df8Gh0Jk2Lz4Xc6Vb8Nm0 end",
        "Authorization: Bearer abcdefghijklmnopqrstuvwx",
        f"{header}.{payload}.c2ln",
        'password = "correct-horse-battery-staple"',
    ):
        assert [finding.certain for finding in find_secrets(text)] == [False], text


def test_a_random_string_after_a_credential_word_is_certain() -> None:
    value = drawn(random.Random(3), 48)
    assert certain(f"use the deploy token {value} for now")
    assert not certain(f"use the value {value} for now")


def test_position_counts_lines_and_columns_from_one() -> None:
    token = "npm_" + drawn(random.Random(5), 36)
    (finding,) = find_secrets(f"one\ntwo\n  see {token}\n")
    assert (finding.line, finding.column) == (3, 7)


@proves("P9.1", "G11")
def test_an_encoded_secret_is_placed_where_its_encoding_stands() -> None:
    rng = random.Random(5)
    plain, token = ("npm_" + drawn(rng, 36) for _ in range(2))
    run = base64.b64encode(f"token {token}".encode()).decode()
    findings = find_secrets(f"see {plain} and\n{run}\nor a%3D{token}")
    assert [(finding.line, finding.column, finding.what) for finding in findings] == [
        (1, 5, "npm token"),
        (2, 1, "encoded npm token"),
        (3, 8, "encoded npm token"),
    ]


def test_a_secret_seen_by_two_rules_is_reported_once() -> None:
    token = "sk-ant-" + drawn(random.Random(6), 40)
    assert [finding.rule for finding in find_secrets(f'api_key = "{token}"')] == ["anthropic-key"]


def test_findings_come_in_order_and_do_not_overlap(corpus: Corpus) -> None:
    findings = find_secrets("\n".join(text for text, *_ in corpus[:80]))
    places = [(finding.line, finding.column) for finding in findings]
    assert places == sorted(set(places))


def test_thousands_of_secrets_give_a_bounded_report() -> None:
    rng = random.Random(8)
    text = "\n".join("ghp_" + drawn(rng, 36) for _ in range(3000))
    assert len(find_secrets(text)) == 100


def test_suspicions_do_not_hide_a_secret_after_them() -> None:
    rng = random.Random(9)
    noise = "\n".join("value " + drawn(rng, 44) for _ in range(1500))
    assert certain(f"{noise}\nsee npm_{drawn(rng, 36)}")


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_scanned_without_error_and_with_the_same_result(text: str) -> None:
    findings = find_secrets(text)
    assert findings == find_secrets(text)
    lines = text.split("\n")
    assert all(1 <= finding.column <= len(lines[finding.line - 1]) for finding in findings)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["password", "=", '"', "://", "@", "eyJ", "%41", ".", "sk-", "aB3", " ", "\n", "İ"])))
def test_any_pile_of_fragments_is_scanned_without_error(parts: list[str]) -> None:
    text = "".join(parts)
    assert all(1 <= finding.line <= text.count("\n") + 1 for finding in find_secrets(text))
