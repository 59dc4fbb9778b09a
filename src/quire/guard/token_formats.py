r"""The table of token formats that the guard refuses, as data.

A rule is tried only where one of its `starts` occurs in the text, case and all, so a text without them costs one
substring search per entry and compiles nothing. Formats follow the issuers' public documentation.

Where a body may contain "-" or "_" a word like `glpat-rotation-policy-for-runners` has the right shape too; such
rules carry the check "random". `prefix` is what may be shown in a report, `body` is what may not.
"""

import re

from quire.guard.secret_rules import NearRule, SecretRule

_AN = "[A-Za-z0-9]"
_AND = "[A-Za-z0-9-]"
_WORD = "[A-Za-z0-9_]"
_URL64 = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"
_UUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"


def _after(rule: str, what: str, starts: str, body: str, check: str = "", reach: int = 400) -> SecretRule:
    """The usual kind: one of these beginnings, as they are, and a body right after it."""
    found = tuple(starts.split())
    return SecretRule(rule, what, found, "(?:" + "|".join(map(re.escape, found)) + ")", body, check, reach=reach)


RULES: tuple[SecretRule, ...] = (
    # Source code hosting and packages
    _after("github-token", "GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", _AN + "{36,255}"),
    _after("github-fine-grained-token", "GitHub token", "github_pat_", _WORD + "{22,255}", "random"),
    _after(
        "gitlab-token",
        "GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glimt-",
        _URL64 + r"{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
        "random",
    ),
    _after("bitbucket-app-password", "Bitbucket app password", "ATBB", _AN + "{32}"),
    _after("npm-token", "npm token", "npm_", _AN + "{36}"),
    _after("pypi-token", "PyPI token", "pypi-Ag", _URL64 + "{50,}", "random"),
    _after("rubygems-token", "RubyGems token", "rubygems_", _HEX + "{48}"),
    _after("crates-token", "crates.io token", "cio", _AN + "{32}", "random"),
    _after("nuget-key", "NuGet API key", "oy2", "[a-z0-9]{43}", "random"),
    _after("docker-token", "Docker token", "dckr_pat_ dckr_oat_", _URL64 + "{27,}", "random"),
    _after("buildkite-token", "Buildkite token", "bkua_", _HEX + "{40}"),
    _after("postman-key", "Postman API key", "PMAK-", _HEX + "{24}-" + _HEX + "{34}"),
    # Clouds and hosting
    SecretRule(
        "aws-access-key-id",
        "AWS access key",
        ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
        "(?:A[KSB]IA|ACCA|A3T[A-Z0-9])",
        "[A-Z0-9]{16}",
    ),
    _after("google-api-key", "Google API key", "AIza", _URL64 + "{35}"),
    _after("google-oauth-secret", "Google OAuth client secret", "GOCSPX-", _URL64 + "{28}", "random"),
    _after("google-oauth-token", "Google OAuth token", "ya29.", _URL64 + "{20,}", "random"),
    _after("google-refresh-token", "Google refresh token", "1//0", _URL64 + "{40,}", "random"),
    _after("azure-storage-key", "Azure storage key", "AccountKey=", "[A-Za-z0-9+/]{86}={0,2}"),
    _after("azure-shared-access-key", "Azure shared access key", "SharedAccessKey=", "[A-Za-z0-9+/_-]{38,86}={0,2}"),
    SecretRule(
        "azure-client-secret",
        "Azure client secret",
        ("Q~",),
        "",
        r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}",
        back=(4,),
    ),
    _after("digitalocean-token", "DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", _HEX + "{64}"),
    _after("alibaba-access-key", "Alibaba Cloud access key", "LTAI", _AN + "{16,20}", "random"),
    _after("heroku-key", "Heroku API key", "HRKU-", _URL64 + "{36,80}", "random"),
    _after("vercel-token", "Vercel token", "vcp_ vci_ vca_ vcr_ vck_", _AN + "{24,60}"),
    _after("vercel-blob-token", "Vercel Blob token", "vercel_blob_rw_", _WORD + "{30,}", "random"),
    _after("fly-token", "Fly.io token", "fm2_ fo1_", "[A-Za-z0-9+/=_-]{40,}", "random", reach=900),
    _after("supabase-token", "Supabase token", "sbp_", _HEX + "{40}"),
    _after("supabase-secret-key", "Supabase secret key", "sb_secret_", _URL64 + "{20,}", "random"),
    _after(
        "planetscale-token",
        "PlanetScale token",
        "pscale_tkn_ pscale_pw_ pscale_oauth_",
        "[A-Za-z0-9_.=-]{32,64}",
        "random",
    ),
    _after("databricks-token", "Databricks token", "dapi", _HEX + r"{32}(?:-\d{1,2})?"),
    SecretRule(
        "tailscale-key",
        "Tailscale key",
        ("tskey-",),
        "tskey-(?:auth|api|client|scim|webhook)-",
        _AND + "{20,}",
        "random",
    ),
    # Secret stores and infrastructure
    _after("vault-token", "HashiCorp Vault token", "hvs. hvb.", _URL64 + "{24,}", "random"),
    SecretRule(
        "terraform-token",
        "Terraform token",
        (".atlasv1.",),
        "",
        _AN + r"{14}\.atlasv1\." + _URL64 + "{60,}",
        back=(14,),
    ),
    SecretRule(
        "doppler-token", "Doppler token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.", "[A-Za-z0-9._-]{40,}", "random"
    ),
    _after("pulumi-token", "Pulumi token", "pul-", _HEX + "{40}"),
    _after("onepassword-token", "1Password service account token", "ops_eyJ", "[A-Za-z0-9+/=_-]{60,}", reach=900),
    _after("age-secret-key", "age secret key", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    _after("sentry-token", "Sentry token", "sntrys_ sntryu_", "[A-Za-z0-9+/=_-]{40,}", "random"),
    _after("grafana-token", "Grafana token", "glsa_", _AN + "{32}_[0-9A-Fa-f]{8}"),
    _after("grafana-cloud-token", "Grafana Cloud token", "glc_", "[A-Za-z0-9+/=]{32,400}", "random"),
    _after("new-relic-key", "New Relic API key", "NRAK-", "[A-Z0-9]{27}"),
    # Model providers
    _after("anthropic-key", "Anthropic API key", "sk-ant-", _URL64 + "{20,}", "random"),
    SecretRule(
        "openai-key",
        "OpenAI API key",
        ("sk-",),
        "sk-(?:(?:proj|svcacct|admin|None|or-v1)-)?",
        _URL64 + "{20,}",
        "random",
    ),
    _after("huggingface-token", "Hugging Face token", "hf_ api_org_", _AN + "{34,40}"),
    _after("groq-key", "Groq API key", "gsk_", _AN + "{40,60}"),
    _after("xai-key", "xAI API key", "xai-", _AN + "{60,100}"),
    _after("replicate-token", "Replicate token", "r8_", _AN + "{37,40}"),
    _after("perplexity-key", "Perplexity API key", "pplx-", _AN + "{40,60}"),
    SecretRule("langsmith-key", "LangSmith API key", ("lsv2_",), "lsv2_(?:pt|sk)_", _HEX + "{32}_" + _HEX + "{10}"),
    # Payment, mail, chat
    _after("stripe-key", "Stripe secret key", "sk_live_ sk_test_", _AN + "{16,250}"),
    _after("stripe-restricted-key", "Stripe key", "rk_live_ rk_test_", _AN + "{16,250}"),
    _after("webhook-signing-secret", "Stripe webhook secret", "whsec_", "[A-Za-z0-9+/]{24,}={0,2}", "random"),
    _after("square-token", "Square token", "sq0atp- sq0csp-", _URL64 + "{22,43}", "random"),
    _after("meta-token", "Meta access token", "EAA", _AN + "{60,300}", "random"),
    _after("shopify-token", "Shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9A-Fa-f]{32}"),
    _after("sendgrid-key", "SendGrid API key", "SG.", _URL64 + r"{16,32}\." + _URL64 + "{16,64}", "random"),
    _after("mailgun-key", "Mailgun API key", "key-", _HEX + "{32}"),
    _after("resend-key", "Resend API key", "re_", _AN + "{8}_" + _AN + "{24}", "random"),
    _after("brevo-key", "Brevo API key", "xkeysib-", _HEX + "{64}-" + _AN + "{16}"),
    _after("twilio-key", "Twilio API key", "SK", _HEX + "{32}"),
    SecretRule("slack-token", "Slack token", ("xox",), r"xox[abceoprs](?:\.xox[bp])?-", _AND + "{10,250}", "digit"),
    SecretRule("slack-app-token", "Slack app token", ("xapp-",), r"xapp-\d-", "[A-Z0-9]{8,}-[0-9]{8,}-[0-9a-f]{32,}"),
    SecretRule(
        "slack-webhook",
        "Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/",
        "[A-Za-z0-9]{8,15}/[A-Za-z0-9/]{20,80}",
        "digit",
    ),
    SecretRule("telegram-token", "Telegram bot token", (":AA",), "", r"\d{8,10}:AA" + _URL64 + "{33}", back=(10, 9, 8)),
    _after(
        "discord-webhook",
        "Discord webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        r"\d{17,20}/" + _URL64 + "{60,80}",
    ),
    # Work tools
    _after("linear-key", "Linear API key", "lin_api_ lin_oauth_", _AN + "{40,64}"),
    _after("notion-token", "Notion token", "secret_ ntn_", _AN + "{43,50}"),
    _after("atlassian-token", "Atlassian token", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]{50,}", "random"),
    _after("figma-token", "Figma token", "figd_", _URL64 + "{38,44}", "random"),
    # More of the same, by what they open: code and builds
    _after("circleci-token", "CircleCI token", "CCIPAT_ CCIPRJ_", _AN + "{20,24}_" + _HEX + "{40}"),
    _after("jfrog-key", "JFrog API key", "AKCp", _AN + "{59,73}", "random"),
    _after("jfrog-token", "JFrog reference token", "cmVmd", _AN + "{59}", "random"),
    _after("gitlab-runner-token", "GitLab token", "GR1348941 glffct- glwt-", _URL64 + "{20,}", "random"),
    _after("gitlab-session", "GitLab session", "_gitlab_session=", "[0-9a-z]{32}"),
    _after("buildkite-agent-token", "Buildkite token", "bkaj_ bkct_ bkpt_ bkpi_ bkar_ bkau_", _AN + "{32,64}"),
    _after("octopus-key", "Octopus Deploy API key", "API-", "[A-Z0-9]{25,27}", "random"),
    _after("sonar-token", "SonarQube token", "squ_ sqp_ sqa_ sqb_", _HEX + "{40}"),
    _after("sourcegraph-token", "Sourcegraph token", "sgp_", f"(?:{_HEX}{{16}}_|local_)?{_HEX}{{40}}"),
    _after("snyk-token", "Snyk token", "snyk_uat. snyk_sat.", r"[0-9a-f]{8}\.[A-Za-z0-9_.-]{40,}", "random"),
    _after("clojars-token", "Clojars token", "CLOJARS_", "[a-z0-9]{60}"),
    _after("openshift-token", "OpenShift token", "sha256~", _URL64 + "{43,48}", "random"),
    _after("harness-key", "Harness API key", "pat. sat.", rf"{_URL64}{{22}}\.{_AN}{{24}}\.{_AN}{{20}}"),
    _after("prefect-key", "Prefect API key", "pnu_ pnb_", _AN + "{36}"),
    _after("postman-collection-key", "Postman key", "PMAT-", "[A-Z0-9]{26}"),
    _after(
        "onepassword-secret-key",
        "1Password secret key",
        "A3-",
        "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    _after(
        "authress-key",
        "Authress access key",
        "sc_ ext_ scauth_ authress_",
        r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
    ),
    _after("clickhouse-key", "ClickHouse Cloud key", "4b1d", _AN + "{38}", "random"),
    _after("readme-key", "ReadMe API key", "rdme_", "[a-z0-9]{70}"),
    _after("infracost-key", "Infracost API key", "ico-", _AN + "{32}", "random"),
    # Clouds, hosting, data
    _after("bedrock-key", "Amazon Bedrock API key", "ABSK", "[A-Za-z0-9+/]{109,269}={0,2}"),
    _after(
        "bedrock-short-key", "Amazon Bedrock API key", "bedrock-api-key-YmVkcm9ja", "[A-Za-z0-9+/]{20,}", reach=4000
    ),
    _after("google-hmac-key", "Google HMAC key", "GOOG1E", "[A-Z0-9]{40,60}", "random"),
    _after("firebase-key", "Firebase server key", "AAAA", _URL64 + r"{7}:APA91b[A-Za-z0-9_-]{100,200}"),
    _after("cloudflare-ca-key", "Cloudflare origin CA key", "v1.0-", _HEX + "{24}-" + _HEX + "{146}"),
    _after("cloudflare-scoped-token", "Cloudflare token", "cfut_ cfat_ cfk_", _URL64 + "{40,60}", "random"),
    _after("netlify-token", "Netlify token", "nfp_ nfo_ nfc_ nfu_ nfb_", _AN + "{36}"),
    _after("render-key", "Render API key", "rnd_", _AN + "{28,40}", "random"),
    _after("scalingo-token", "Scalingo token", "tk-us-", _URL64 + "{48}", "random"),
    _after("tencent-key-id", "Tencent Cloud access key", "AKID", _AN + "{32}", "random"),
    _after("volcengine-key-id", "Volcano Engine access key", "AKLT", _AN + "{40,60}", "random"),
    _after("yandex-key", "Yandex Cloud API key", "AQVN", _URL64 + "{35,38}", "random"),
    _after(
        "yandex-token", "Yandex token", "t1. y0_ y1_ y2_ y3_", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{80,90}", "random"
    ),
    _after("aiven-password", "Aiven password", "AVNS_", _URL64 + "{19}", "random"),
    _after("cockroach-key", "CockroachDB Cloud API key", "CCDB1_", _AN + "{22}_" + _AN + "{40}"),
    _after("databricks-secret", "Databricks OAuth secret", "dose", _HEX + "{32}"),
    _after("mongodb-secret", "MongoDB Atlas secret", "mdb_sa_sk_", _URL64 + "{40}", "random"),
    _after("neon-key", "Neon API key", "napi_", "[a-z0-9]{60,70}", "random"),
    _after("contentful-token", "Contentful token", "CFPAT-", _URL64 + "{43}", "random"),
    _after("apify-token", "Apify token", "apify_api_", _AN + "{36}"),
    _after("airtable-token", "Airtable token", "pat", rf"{_AN}{{14}}\.{_HEX}{{64}}"),
    _after("dropbox-token", "Dropbox token", "sl.", r"(?:u\.|B\.)?[A-Za-z0-9_-]{120,}", "random", 2000),
    _after("dynatrace-token", "Dynatrace token", "dt0", r"[a-z]\d\d\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}"),
    SecretRule("maxmind-key", "MaxMind license key", ("_mmk",), "", f"{_AN}{{6}}_{_AN}{{29}}_mmk", back=(36,)),
    _after("defined-key", "Defined Networking API key", "dnkey-", "[a-z0-9=_-]{26}-[a-z0-9=_-]{52}", "random"),
    _after("intra42-secret", "42 client secret", "s-s4t2ud- s-s4t2af-", _HEX + "{64}"),
    _after("adobe-secret", "Adobe client secret", "p8e-", _AN + "{32}", "random"),
    _after("settlemint-token", "SettleMint token", "sm_aat_ sm_pat_ sm_sat_", _AN + "{16}", "random"),
    # Watching and analytics
    _after("posthog-key", "PostHog personal key", "phx_ phs_", _AN + "{36,64}"),
    _after("segment-token", "Segment token", "sgp_", _AN + "{64}", "random"),
    _after("launchdarkly-key", "LaunchDarkly key", "api- sdk-", _UUID),
    _after("honeycomb-key", "Honeycomb key", "hcaik_ hcxik_ hcamk_ hcxmk_", "[a-z0-9]{58,64}", "random"),
    _after("new-relic-license", "New Relic key", "NRII- NRIQ- NRJS-", _URL64 + "{19,32}", "random"),
    _after("grafana-old-key", "Grafana API key", "eyJrIjoi", "[A-Za-z0-9+/]{50,400}={0,2}", "random"),
    # Model providers and what agents call
    _after("nvidia-key", "NVIDIA API key", "nvapi-", _URL64 + "{60,70}", "random"),
    _after("pinecone-key", "Pinecone API key", "pcsk_", _AN + "{5,7}_" + _AN + "{60,65}"),
    _after("cerebras-key", "Cerebras API key", "csk-", "[a-z0-9]{48}", "random"),
    _after("elevenlabs-key", "ElevenLabs API key", "sk_", _HEX + "{48}"),
    _after("tavily-key", "Tavily API key", "tvly-", "(?:dev-|prod-)?" + _AN + "{30,40}", "random"),
    _after("together-key", "Together API key", "tgp_v1_", _URL64 + "{43}", "random"),
    _after("wandb-key", "Weights & Biases key", "wandb_v1_", _WORD + "{40,}", "random"),
    _after("firecrawl-key", "Firecrawl API key", "fc-", _HEX + "{32}"),
    _after("voyage-key", "Voyage API key", "pa-", _URL64 + "{43}", "random"),
    _after("jina-key", "Jina API key", "jina_", _AN + "{60}", "random"),
    _after("fireworks-key", "Fireworks API key", "fw_", _AN + "{22,24}", "random"),
    _after("brave-key", "Brave Search key", "BSA", _URL64 + "{27,28}", "random"),
    _after("llamacloud-key", "LlamaCloud key", "llx-", _AN + "{48}", "random"),
    _after("modal-token", "Modal token", "ak- as-", _AN + "{22}", "random"),
    _after("e2b-key", "E2B API key", "e2b_", _HEX + "{40}"),
    _after("runpod-key", "RunPod API key", "rpa_", _AN + "{42,50}", "random"),
    _after("cursor-key", "Cursor API key", "crsr_", _HEX + "{64}"),
    # Payment, mail, chat, work
    _after("square-access-token", "Square token", "EAAA", _URL64 + "{22,60}", "random"),
    _after(
        "braintree-token",
        "Braintree token",
        "access_token$production$ access_token$sandbox$",
        rf"{_AN}{{16}}\${_HEX}{{32}}",
    ),
    _after("plaid-token", "Plaid token", "access-production- access-sandbox- access-development-", _UUID),
    _after("easypost-key", "EasyPost API key", "EZAK EZTK", _AN + "{54}"),
    _after("shippo-token", "Shippo token", "shippo_live_ shippo_test_", _HEX + "{40}"),
    _after("duffel-token", "Duffel token", "duffel_live_ duffel_test_", "[A-Za-z0-9_=-]{43}", "random"),
    _after("flutterwave-key", "Flutterwave key", "FLWSECK- FLWSECK_TEST-", "[0-9a-h]{12}(?:[0-9a-h]{20}-X)?"),
    _after("stytch-secret", "Stytch secret", "secret-live- secret-test-", "[A-Za-z0-9_=-]{36,48}", "random"),
    _after("brevo-smtp-key", "Brevo key", "xsmtpsib-", _HEX + "{64}-" + _AN + "{16}"),
    SecretRule(
        "facebook-app-token",
        "Facebook app token",
        ("|",),
        "",
        r"\d{15,16}\|[A-Za-z0-9_-]{27,40}",
        "random",
        back=(15, 16),
    ),
    SecretRule("mailchimp-key", "Mailchimp API key", ("-us",), "", _HEX + r"{32}-us\d{1,2}", back=(32,)),
    _after("telnyx-key", "Telnyx API key", "KEY", "[0-9A-Z]{32}_" + _AN + "{22}", "random"),
    _after("typeform-token", "Typeform token", "tfp_", "[A-Za-z0-9_.=-]{40,64}", "random"),
    _after("trello-token", "Trello token", "ATTA", "[0-9A-Fa-f]{64,72}"),
    _after("hubspot-token", "HubSpot token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),
    _after("asana-token", "Asana token", "1/ 2/", r"\d{15,17}(?:/\d{15,17})?:[0-9a-f]{32}"),
    _after("frameio-token", "Frame.io token", "fio-u-", "[A-Za-z0-9_=-]{64}", "random"),
    _after("figma-oauth", "Figma token", "figo_ figor_ figoh_ figu_", _URL64 + "{36,48}", "random"),
    _after("mapbox-token", "Mapbox secret token", "sk.eyJ tk.eyJ", rf"{_URL64}{{20,400}}\.{_URL64}{{22}}"),
    _after("zapier-hook", "Zapier webhook", "hooks.zapier.com/hooks/catch/", r"\d{4,12}/[a-z0-9]{5,12}", "digit"),
    _after(
        "google-chat-hook",
        "Google Chat webhook",
        "chat.googleapis.com/v1/spaces/",
        r"[\w-]{8,20}/messages\?key=[\w-]{20,60}&token=[\w-]{30,60}",
    ),
    _after(
        "teams-webhook",
        "Teams webhook",
        "webhook.office.com/webhookb2/ outlook.office.com/webhook/",
        f"{_UUID}@{_UUID}/[A-Za-z]{{5,30}}/{_HEX}{{32}}/{_UUID}",
    ),
    _after("azure-signature", "Azure shared access signature", "sig=", "[A-Za-z0-9%+/_-]{40,90}={0,2}", "random"),
    _after("azure-function-key", "Azure function key", "code=", "[A-Za-z0-9%+/_-]{52,80}={1,2}", "random"),
    _after("vault-old-token", "HashiCorp Vault token", "s.", _AN + "{24}", "random"),
    # Keys and signed tokens
    _after(
        "jwt",
        "JSON web token",
        "eyJ",
        rf"{_URL64}{{8,1000}}+\.{_URL64}{{4,4000}}+\.{_URL64}{{0,1000}}+(?:\.{_URL64}+)*",
        "jwt",
        reach=7000,
    ),
    SecretRule(
        "gcp-service-account-key",
        "Google service account key",
        ('"private_key"',),
        r'"private_key"\s{0,4}:\s{0,4}"-----BEGIN (?:RSA )?PRIVATE KEY-----',
        "",
        "pem",
        end="",
    ),
    SecretRule(
        "private-key",
        "private key",
        ("-----BEGIN ",),
        "-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
        "",
        "pem",
        end="",
    ),
    SecretRule(
        "putty-private-key",
        "PuTTY private key",
        ("PuTTY-User-Key-File-",),
        "PuTTY-User-Key-File-[23]: ",
        "[a-z0-9-]{6,}",
    ),
)

NEAR_RULES: tuple[NearRule, ...] = (
    NearRule(
        "aws-secret-key",
        "AWS secret key",
        ("aws_secret", "aws-secret", "aws secret", "awssecret", "secret_access", "secret access", "secretaccess"),
        "[A-Za-z0-9+/]{40}(?![/+=])",
    ),
    NearRule("cloudflare-token", "Cloudflare token", ("cloudflare", "cf_api"), f"(?:{_HEX}{{37}}|{_URL64}{{40}})"),
    NearRule("heroku-key", "Heroku API key", ("heroku",), _UUID),
    NearRule("twilio-token", "Twilio auth token", ("twilio",), _HEX + "{32}"),
    NearRule("vercel-token", "Vercel token", ("vercel",), _AN + "{24}"),
    NearRule("datadog-key", "Datadog key", ("datadog", "dd_api", "dd_app"), f"(?:{_HEX}{{40}}|{_HEX}{{32}})"),
)
