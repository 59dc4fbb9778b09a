"""The corpus of secrets for the guard: every format, in the places where people and agents leave them.

No complete secret stands in this file: each is drawn from its format by a seeded generator.
"""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote

import pytest

AN = string.ascii_letters + string.digits
LETTERS = string.ascii_letters
URL64 = AN + "_-"
B64 = AN + "+/"
HEX = "0123456789abcdef"
DIGITS = string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
PRIVATE = "PRIVATE" + " KEY"  # in two, so that no scanner takes this file for a key
BECH32 = "023456789ACDEFGHJKLMNPQRSTUVWXYZ"


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
    ("airtable-token", "pat", [(AN, 14), ".", (HEX, 64)]),
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
            f"RSA {PRIVATE}",
            f"EC {PRIVATE}",
            f"OPENSSH {PRIVATE}",
            f"ENCRYPTED {PRIVATE}",
            PRIVATE,
        ):
            yield Sample(
                f"a key:\n{(block := key_block(rng, kind))}\n", "private-key", f"-----BEGIN {kind}-----", block
            )
        block = key_block(rng, f"PGP {PRIVATE} BLOCK")
        yield Sample(block, "private-key", f"-----BEGIN PGP {PRIVATE} BLOCK-----", block)
        account = json.dumps({"private_key": key_block(rng, PRIVATE)})
        yield Sample(account, "gcp-service-account-key", account[: account.index("KEY-----") + 8].lstrip("{"), account)
        yield near(rng, "AWS_SECRET_ACCESS_KEY=", [(B64, 40)], "aws-secret-key")
        yield near(rng, "aws_secret_access_key: ", [(B64, 40)], "aws-secret-key")
        yield near(rng, "Our Cloudflare token is ", [(AN, 40)], "cloudflare-token")
        yield near(rng, "HEROKU_API_KEY=", uuid, "heroku-key")
        yield near(rng, "twilio auth token: ", [(HEX, 32)], "twilio-token")
        yield near(rng, "VERCEL_TOKEN=", [(AN, 24)], "vercel-token")
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
        block = key_block(rng, f"RSA {PRIVATE}")
        yield Sample(f"KEY={base(block)}", "private-key", f"-----BEGIN RSA {PRIVATE}-----", block)
        value = mixed(rng, AN, 20)
        yield Sample(f"cfg: {base('user=app' + chr(10) + 'password=' + value)}", "assigned-password", "", value)
        yield Sample(f"go=postgres%3A%2F%2Fapp%3A{value}%40db%2Fapp", "url-password", "", value)


@pytest.fixture(scope="session")
def corpus() -> list[Sample]:
    """Texts with one secret each: text, rule, public prefix, value."""
    rng = random.Random(20260302)
    makers: tuple[Callable[[random.Random], Iterator[Sample]], ...] = (formatted, built, assigned, logins, wrapped)
    return [sample for maker in makers for sample in maker(rng)]
