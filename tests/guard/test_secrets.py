"""Secrets are refused, ordinary project text is not, and no report gives a secret away.

No complete secret stands in this file: each is drawn from its format by a seeded generator.
"""

import base64
import json
import random
import string
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.guard import SecretFinding, find_secrets
from quire.guard.formats import NEAR_RULES, RULES

AN = string.ascii_letters + string.digits
LETTERS = string.ascii_letters
URL64 = AN + "_-"
B64 = AN + "+/"
HEX = "0123456789abcdef"
DIGITS = string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
BECH32 = "023456789ACDEFGHJKLMNPQRSTUVWXYZ"

SHARED = Path(__file__).parents[2].parent / "shared"
KIB_256 = 256 * 1024

Part = str | tuple[str, int]
# rule, public prefix, then what follows it: literals and (alphabet, length)
FORMATS: list[tuple[str, str, list[Part]]] = [
    ("github-token", "ghp_", [(AN, 36)]),
    ("github-token", "gho_", [(AN, 36)]),
    ("github-token", "ghs_", [(AN, 36)]),
    ("github-token", "ghu_", [(AN, 36)]),
    ("github-token", "ghr_", [(AN, 76)]),
    ("github-fine-grained-token", "github_pat_", [(AN, 22), "_", (AN, 59)]),
    ("gitlab-token", "glpat-", [(URL64, 20)]),
    ("gitlab-token", "gldt-", [(URL64, 20)]),
    ("bitbucket-app-password", "ATBB", [(AN, 32)]),
    ("npm-token", "npm_", [(AN, 36)]),
    ("pypi-token", "pypi-Ag", ["EIcHlwaS5vcmc", (URL64, 150)]),
    ("rubygems-token", "rubygems_", [(HEX, 48)]),
    ("crates-token", "cio", [(AN, 32)]),
    ("nuget-key", "oy2", [(LOWER, 43)]),
    ("docker-token", "dckr_pat_", [(URL64, 27)]),
    ("buildkite-token", "bkua_", [(HEX, 40)]),
    ("postman-key", "PMAK-", [(HEX, 24), "-", (HEX, 34)]),
    ("aws-access-key-id", "AKIA", [(UPPER, 16)]),
    ("aws-access-key-id", "ASIA", [(UPPER, 16)]),
    ("google-api-key", "AIza", [(URL64, 35)]),
    ("google-oauth-secret", "GOCSPX-", [(URL64, 28)]),
    ("google-oauth-token", "ya29.", [(URL64, 120)]),
    ("google-refresh-token", "1//0", [(URL64, 60)]),
    ("azure-storage-key", "AccountKey=", [(B64, 86), "=="]),
    ("azure-shared-access-key", "SharedAccessKey=", [(B64, 43), "="]),
    ("azure-client-secret", "", [(AN, 3), "8Q~", (AN, 34)]),
    ("digitalocean-token", "dop_v1_", [(HEX, 64)]),
    ("alibaba-access-key", "LTAI", [(AN, 20)]),
    ("heroku-key", "HRKU-", [(URL64, 60)]),
    ("vercel-token", "vcp_", [(AN, 50)]),
    ("vercel-blob-token", "vercel_blob_rw_", [(AN, 16), "_", (AN, 30)]),
    ("fly-token", "fm2_", [(B64, 120)]),
    ("supabase-token", "sbp_", [(HEX, 40)]),
    ("supabase-secret-key", "sb_secret_", [(URL64, 31)]),
    ("planetscale-token", "pscale_tkn_", [(URL64, 43)]),
    ("databricks-token", "dapi", [(HEX, 32)]),
    ("tailscale-key", "tskey-auth-", [(AN, 17), "-", (AN, 32)]),
    ("vault-token", "hvs.", [(URL64, 90)]),
    ("terraform-token", "", [(AN, 14), ".atlasv1.", (URL64, 67)]),
    ("doppler-token", "dp.pt.", [(AN, 43)]),
    ("pulumi-token", "pul-", [(HEX, 40)]),
    ("onepassword-token", "ops_eyJ", [(AN, 250)]),
    ("age-secret-key", "AGE-SECRET-KEY-1", [(BECH32, 58)]),
    ("sentry-token", "sntryu_", [(HEX, 64)]),
    ("grafana-token", "glsa_", [(AN, 32), "_", (HEX, 8)]),
    ("grafana-cloud-token", "glc_eyJ", [(B64, 90)]),
    ("new-relic-key", "NRAK-", [(UPPER, 27)]),
    ("anthropic-key", "sk-ant-", ["api03-", (URL64, 93), "AA"]),
    ("openai-key", "sk-", [(AN, 48)]),
    ("openai-key", "sk-", [(AN, 20), "T3BlbkFJ", (AN, 20)]),
    ("openai-key", "sk-proj-", [(URL64, 120)]),
    ("openai-key", "sk-svcacct-", [(URL64, 120)]),
    ("openai-key", "sk-or-v1-", [(HEX, 64)]),
    ("huggingface-token", "hf_", [(LETTERS, 34)]),
    ("groq-key", "gsk_", [(AN, 52)]),
    ("xai-key", "xai-", [(AN, 80)]),
    ("replicate-token", "r8_", [(AN, 37)]),
    ("perplexity-key", "pplx-", [(AN, 48)]),
    ("langsmith-key", "lsv2_pt_", [(HEX, 32), "_", (HEX, 10)]),
    ("stripe-key", "sk_live_", [(AN, 24)]),
    ("stripe-key", "sk_test_", [(AN, 99)]),
    ("stripe-restricted-key", "rk_live_", [(AN, 24)]),
    ("webhook-signing-secret", "whsec_", [(AN, 32)]),
    ("square-token", "sq0atp-", [(URL64, 22)]),
    ("meta-token", "EAA", [(AN, 150)]),
    ("shopify-token", "shpat_", [(HEX, 32)]),
    ("shopify-token", "shpss_", [(HEX, 32)]),
    ("sendgrid-key", "SG.", [(URL64, 22), ".", (URL64, 43)]),
    ("mailgun-key", "key-", [(HEX, 32)]),
    ("resend-key", "re_", [(AN, 8), "_", (AN, 24)]),
    ("brevo-key", "xkeysib-", [(HEX, 64), "-", (AN, 16)]),
    ("twilio-key", "SK", [(HEX, 32)]),
    ("slack-token", "xoxb-", [(DIGITS, 12), "-", (DIGITS, 13), "-", (AN, 24)]),
    ("slack-token", "xoxp-", [(DIGITS, 12), "-", (DIGITS, 12), "-", (HEX, 32)]),
    ("slack-app-token", "xapp-1-", [(UPPER, 11), "-", (DIGITS, 13), "-", (HEX, 64)]),
    ("slack-webhook", "hooks.slack.com/services/", ["T", (UPPER, 10), "/B", (UPPER, 10), "/", (AN, 24)]),
    ("telegram-token", "", ["7", (DIGITS, 9), ":AA", (URL64, 32), "x"]),
    ("discord-webhook", "discord.com/api/webhooks/", ["1", (DIGITS, 18), "/", (URL64, 67), "x"]),
    ("linear-key", "lin_api_", [(AN, 40)]),
    ("notion-token", "secret_", [(AN, 43)]),
    ("notion-token", "ntn_", [(AN, 46)]),
    ("atlassian-token", "ATATT3", ["xFfGF0", (URL64, 170), "=", (UPPER, 8)]),
    ("figma-token", "figd_", [(URL64, 40)]),
    ("putty-private-key", "PuTTY-User-Key-File-3: ", ["ssh-ed25519"]),
]

CONTEXTS: list[str] = [
    "{}",
    "The deploy job uses {} until the vault is ready.",
    "- old value: `{}` (rotate it)",
    'const client = new Client("{}");',
    "https://api.internal/v1?auth={}&page=2",
    "| staging | {} |",
    "export THING={}",
    "first line\n\n```sh\nrun --with {}\n```\nlast line",
    '{{"settings": {{"value": "{}"}}}}',
    "密钥{}，请勿外传",
    '{{"body": "first line\\n{}\\nlast line"}}',
]

NAMES = ["password", "DB_PASSWORD", "dbPassword", "client_secret", "API_KEY", "apiKey", "auth_token", "accessToken"]
SHAPES = [
    '{} = "{}"',
    "{}={}",
    "{}: '{}'",
    '"{}": "{}",',
    "{} => '{}'",
    "{} := `{}`",
    '{}: str = "{}"',
    "{}: {}",
    '{{"body": "set {} = \\"{}\\" first"}}',
]


class Sample(NamedTuple):
    """A text with one secret in it."""

    text: str
    rule: str
    prefix: str
    value: str


def drawn(rng: random.Random, parts: list[Part]) -> str:
    return "".join(part if isinstance(part, str) else "".join(rng.choices(part[0], k=part[1])) for part in parts)


def mixed(rng: random.Random, alphabet: str, size: int) -> str:
    """Draw until letters and digits alternate, as in what password generators and people make."""
    while True:
        value = drawn(rng, [(alphabet, size)])
        turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(value))
        if turns >= 3 and len(set(value)) > size // 2:
            return value


def web_token(rng: random.Random) -> str:
    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    payload = json.dumps({"sub": str(rng.randrange(10**9)), "iat": rng.randrange(10**9)}).encode()
    return f"{part(json.dumps({'alg': 'HS256', 'typ': 'JWT'}).encode())}.{part(payload)}.{part(rng.randbytes(32))}"


def discord_token(rng: random.Random) -> str:
    user = base64.b64encode(str(rng.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
    return f"{user}.{drawn(rng, [(AN, 6)])}.{drawn(rng, [(URL64, 38)])}"


def key_block(rng: random.Random, kind: str) -> str:
    body = "\n".join(drawn(rng, [(B64, 64)]) for _ in range(4))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


def near(rng: random.Random, lead: str, parts: list[Part], rule: str) -> Sample:
    value = drawn(rng, parts)
    return Sample(f"{lead}{value}\n", rule, "", value)


def formatted(rng: random.Random) -> Iterator[Sample]:
    turn = 0
    for rule, prefix, parts in FORMATS:
        for _ in range(4):
            value = prefix + drawn(rng, parts)
            yield Sample(CONTEXTS[turn % len(CONTEXTS)].format(value), rule, prefix, value)
            turn += 1


def built(rng: random.Random) -> Iterator[Sample]:
    uuid: list[Part] = [(HEX, 8), "-", (HEX, 4), "-4", (HEX, 3), "-a", (HEX, 3), "-", (HEX, 12)]
    for turn in range(4):
        yield Sample(CONTEXTS[turn].format(token := web_token(rng)), "jwt", "eyJ", token)
        yield Sample(CONTEXTS[turn].format(token := discord_token(rng)), "discord-token", "", token)
        for kind in (
            "RSA PRIVATE KEY",
            "EC PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
            "PRIVATE KEY",
        ):
            yield Sample(
                f"a key:\n{(block := key_block(rng, kind))}\n", "private-key", f"-----BEGIN {kind}-----", block
            )
        block = key_block(rng, "PGP PRIVATE KEY BLOCK")
        yield Sample(block, "private-key", "-----BEGIN PGP PRIVATE KEY BLOCK-----", block)
        account = json.dumps({"private_key": key_block(rng, "PRIVATE KEY")})
        yield Sample(account, "gcp-service-account-key", account[: account.index("KEY-----") + 8].lstrip("{"), account)
        yield near(rng, "AWS_SECRET_ACCESS_KEY=", [(B64, 40)], "aws-secret-key")
        yield near(rng, "aws_secret_access_key: ", [(B64, 40)], "aws-secret-key")
        yield near(rng, "Our Cloudflare token is ", [(AN, 40)], "cloudflare-token")
        yield near(rng, "HEROKU_API_KEY=", uuid, "heroku-key")
        yield near(rng, "twilio auth token: ", [(HEX, 32)], "twilio-token")
        yield near(rng, "VERCEL_TOKEN=", [(AN, 24)], "vercel-token")
        yield near(rng, "airtable key: pat", [(AN, 14), ".", (HEX, 64)], "airtable-token")
        yield near(rng, "MAILCHIMP_API_KEY=", [(HEX, 32), "-us14"], "mailchimp-key")
        yield near(rng, "DATADOG_API_KEY=", [(HEX, 32)], "datadog-key")


def assigned(rng: random.Random) -> Iterator[Sample]:
    for name in NAMES:
        kind = "password" if "assword" in name.replace("ASSWORD", "assword") else ""
        for shape in SHAPES:
            value = mixed(rng, AN + ("!#%" if kind else ""), rng.randrange(16, 33))
            yield Sample(shape.format(name, value), "assigned-", "", value)
    for lead in ("password for staging: ", "The admin password is ", "mysql --password ", "Passphrase (backup): "):
        yield Sample(lead + (value := mixed(rng, AN, 18)), "assigned-password", "", value)
    for value in ("hunter2" * 2, "Winter" + "2024", "Tr0ub4dor" + "&3", "correct9horse" + "!battery"):
        yield Sample(f'password = "{value}"', "assigned-password", "", value)


def logins(rng: random.Random) -> Iterator[Sample]:
    for lead, tail in (
        ("postgres://app:", "@db.internal:5432/app"),
        ("DATABASE_URL=mysql://root:", "@10.0.0.3/shop"),
        ("redis://:", "@cache:6379/0"),
        ("clone https://bot:", "@git.example.com/team/repo.git now"),
        ('"mongodb+srv://svc:', '@cluster0.example.net/?retryWrites=true"'),
    ):
        for size in (9, 16, 40):
            yield Sample(f"{lead}{(value := mixed(rng, AN, size))}{tail}", "url-password", "", value)
    for size in (24, 40, 64):
        value = mixed(rng, URL64, size)
        yield Sample(f"Authorization: Bearer {value}", "authorization-header", "", value)
        yield Sample(f"curl -H 'authorization: bearer {value}' https://api", "authorization-header", "", value)
        value = base64.b64encode(f"svc:{mixed(rng, AN, size)}".encode()).decode()
        yield Sample(f'headers["Authorization"] = "Basic {value}"', "authorization-header", "", value)
        yield Sample(f"curl -u svc:{(value := mixed(rng, AN, size))} https://api", "command-password", "", value)


def wrapped(rng: random.Random) -> Iterator[Sample]:
    def percent(text: str) -> str:
        return quote(text, safe="")

    def base(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    for _ in range(3):
        token = "ghp_" + drawn(rng, [(AN, 36)])
        yield Sample(f"see {base('token ' + token)} here", "github-token", "ghp_", token)
        yield Sample(f"https://x.test/?next={percent('a=1&t=' + token)}", "github-token", "ghp_", token)
        block = key_block(rng, "RSA PRIVATE KEY")
        yield Sample(f"KEY={base(block)}", "private-key", "-----BEGIN RSA PRIVATE KEY-----", block)
        value = mixed(rng, AN, 20)
        yield Sample(f"cfg: {base('user=app' + chr(10) + 'password=' + value)}", "assigned-password", "", value)
        yield Sample(f"go=postgres%3A%2F%2Fapp%3A{value}%40db%2Fapp", "url-password", "", value)


def corpus(seed: int = 20260302) -> list[Sample]:
    rng = random.Random(seed)
    makers: tuple[Callable[[random.Random], Iterator[Sample]], ...] = (formatted, built, assigned, logins, wrapped)
    return [sample for maker in makers for sample in maker(rng)]


def generated_lookalikes() -> list[str]:
    rng = random.Random(7)
    words = ["task", "disk", "risk", "kiosk", "worker", "retry", "invoice", "queue", "token", "secret", "key", "model"]
    texts: list[str] = []
    for _ in range(12):
        slug = "-".join(rng.choices(words, k=7))
        b64 = base64.b64encode(rng.randbytes(64)).decode()
        sha = drawn(rng, [(HEX, 40)])
        texts += [
            f"content_hash: sha256:{drawn(rng, [(HEX, 64)])}",
            f"fixed in {sha} and reverted in {sha[:12]}",
            f'"integrity": "sha512-{b64}"',
            f"etag {drawn(rng, [(HEX, 32)])}",
            drawn(rng, [(HEX, 8), "-", (HEX, 4), "-4", (HEX, 3), "-8", (HEX, 3), "-", (HEX, 12)]),
            "01" + drawn(rng, [("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24)]),
            f"feature.{slug}",
            f"rel.feature-{slug}-depends-on-decision-{slug}",
            f'"body_path": "memory/features/{slug}.md"',
            f"https://cdn.example.com/assets/{slug}-{drawn(rng, [(AN, 8)])}.js",
        ]
    return texts


def lookalikes() -> list[str]:
    written = (Path(__file__).parent / "lookalikes.txt").read_text(encoding="utf-8").splitlines()
    return written + generated_lookalikes()


def certain(text: str) -> list[SecretFinding]:
    return [finding for finding in find_secrets(text) if finding.certain]


def test_at_least_98_of_100_secrets_are_refused() -> None:
    samples = corpus()
    missed = [(sample.rule, sample.text) for sample in samples if not certain(sample.text)]
    assert len(samples) >= 150
    assert len(missed) <= len(samples) * 0.02, missed


def test_every_rule_is_proved_by_three_secrets_it_names() -> None:
    named: dict[str, int] = {}
    for sample in corpus():
        for rule in {finding.rule for finding in certain(sample.text)}:
            named[rule] = named.get(rule, 0) + 1
    wanted = {rule.id for rule in RULES} | {rule.id for rule in NEAR_RULES}
    wanted |= {"url-password", "authorization-header", "discord-token", "command-password"}
    wanted |= {"assigned-password", "assigned-secret", "assigned-token", "assigned-key"}
    assert {rule: named.get(rule, 0) for rule in wanted if named.get(rule, 0) < 3} == {}


def test_a_secret_is_reported_under_its_own_name() -> None:
    wrong = [
        (sample.rule, [finding.rule for finding in certain(sample.text)])
        for sample in corpus()
        if not any(finding.rule.startswith(sample.rule) for finding in certain(sample.text))
    ]
    assert len(wrong) <= len(corpus()) * 0.02, wrong


def test_no_report_shows_more_than_the_public_prefix_and_two_characters() -> None:
    for sample in corpus():
        for finding in find_secrets(sample.text):
            if finding.masked.startswith("…"):
                assert finding.masked.strip("… ()characters").isdigit()
            else:
                shown = finding.masked.removesuffix("…")
                assert sample.value.startswith(shown) or shown.startswith(sample.prefix), finding
                assert len(shown) <= len(sample.prefix) + 2, finding
            assert sample.value not in repr(finding)


def test_ordinary_project_text_raises_no_alarm() -> None:
    texts = lookalikes()
    alarms = [(text, finding) for text in texts for finding in find_secrets(text)]
    assert len(texts) >= 300
    assert [alarm for alarm in alarms if alarm[1].certain] == []
    assert len(alarms) <= len(texts) * 0.01, alarms


def test_ordinary_project_text_in_one_document_raises_no_alarm() -> None:
    assert certain("\n".join(lookalikes())) == []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded stores are not beside this checkout")
def test_recorded_stores_raise_no_alarm() -> None:
    stores = SHARED / "fixtures" / "graph"
    paths = [path for end in ("json", "jsonl", "md") for path in stores.glob(f"*/repo/.memory/**/*.{end}")]
    assert len(paths) > 100
    assert [(path.name, certain(path.read_text(encoding="utf-8"))) for path in paths if certain(path.read_text())] == []


def test_what_the_original_program_refused_is_refused() -> None:
    refused = ["ghp_" + "a1B2" * 10, "AKIA" + "ABCD1234" * 2, "sk_live_" + "abcd1234" * 3]
    refused += ['password = "{}"'.format("hunter2" * 2), "-----BEGIN RSA " + "PRIVATE KEY-----"]
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
    value = drawn(random.Random(3), [(AN, 48)])
    assert certain(f"use the deploy token {value} for now")
    assert not certain(f"use the value {value} for now")


def test_position_counts_lines_and_columns_from_one() -> None:
    token = "npm_" + drawn(random.Random(5), [(AN, 36)])
    (finding,) = find_secrets(f"one\ntwo\n  see {token}\n")
    assert (finding.line, finding.column) == (3, 7)


def test_a_secret_seen_by_two_rules_is_reported_once() -> None:
    token = "sk-ant-" + drawn(random.Random(6), [(AN, 40)])
    assert [finding.rule for finding in find_secrets(f'api_key = "{token}"')] == ["anthropic-key"]


def test_findings_come_in_order_and_do_not_overlap() -> None:
    findings = find_secrets("\n".join(sample.text for sample in corpus()[:80]))
    places = [(finding.line, finding.column) for finding in findings]
    assert places == sorted(set(places))


def test_thousands_of_secrets_give_a_bounded_report() -> None:
    rng = random.Random(8)
    text = "\n".join("ghp_" + drawn(rng, [(AN, 36)]) for _ in range(3000))
    assert len(find_secrets(text)) == 100


def test_suspicions_do_not_hide_a_secret_after_them() -> None:
    rng = random.Random(9)
    noise = "\n".join("value " + drawn(rng, [(AN, 44)]) for _ in range(1500))
    assert certain(f"{noise}\nsee npm_{drawn(rng, [(AN, 36)])}")


@given(st.text())
def test_any_text_is_scanned_without_error_and_with_the_same_result(text: str) -> None:
    findings = find_secrets(text)
    assert findings == find_secrets(text)
    lines = text.split("\n")
    assert all(1 <= finding.column <= len(lines[finding.line - 1]) for finding in findings)


@given(st.lists(st.sampled_from(["password", "=", '"', "://", "@", "eyJ", "%41", ".", "sk-", "aB3", " ", "\n", "İ"])))
def test_any_pile_of_fragments_is_scanned_without_error(parts: list[str]) -> None:
    text = "".join(parts)
    assert all(1 <= finding.line <= text.count("\n") + 1 for finding in find_secrets(text))


HOSTILE_UNITS = [
    "a",
    "sk-",
    "sk-a1",
    "password=",
    "pass=",
    "api_key='",
    "token: ",
    ":",
    "%41",
    "eyJ",
    "-eyJ",
    "eyJ" + "a" * 10 + ".",
]
HOSTILE_UNITS += [
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "https://",
    "://a:",
    "://a:b@",
    "a" * 39 + " ",
    "QUFB" * 11 + " ",
]
HOSTILE_UNITS += [
    "Q~",
    ":AA",
    "AccountKey=",
    "aws_secret",
    "fm2_",
    "glpat-" + "aB3-" * 20,
    "bearer ",
    "curl -u a:",
    "\\",
    "İ",
]


def seconds_for(text: str) -> float:
    start = time.perf_counter()
    find_secrets(text)
    return time.perf_counter() - start


@pytest.mark.parametrize("unit", HOSTILE_UNITS, ids=lambda unit: repr(unit[:16]))
def test_hostile_repetition_is_scanned_in_bounded_time(unit: str) -> None:
    assert seconds_for((unit * (KIB_256 // len(unit) + 1))[:KIB_256]) < 3


@pytest.mark.parametrize("lead", ["ghp_", "sk-", "password=", "eyJ", "https://a:", "AccountKey="])
@pytest.mark.parametrize("unit", ["a", "aB3", "a-", "@", "%41", "="])
def test_an_endless_value_is_scanned_in_bounded_time(lead: str, unit: str) -> None:
    assert seconds_for(lead + unit * (KIB_256 // len(unit))) < 3


def test_a_cold_scan_of_an_ordinary_note_compiles_no_rule() -> None:
    program = (
        "import re, sys, msgspec\n"
        "before = set(sys.modules)\n"
        "import quire.guard\n"
        "new = {n for n in set(sys.modules) - before if not n.startswith('quire')}\n"
        "import re._compiler as c\n"
        "real, seen = c.compile, []\n"
        "c.compile = lambda p, flags=0: (seen.append(p), real(p, flags))[1]\n"
        "quire.guard.find_secrets('The worker retries a failed task three times, then parks it. ' * 30)\n"
        "print(sorted(new), len(seen))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["[]", "0"]
