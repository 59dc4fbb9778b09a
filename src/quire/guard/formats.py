r"""The table of token formats the guard refuses, as data.

A rule is tried only where one of its `starts` occurs in the text, case and all, so a text without them costs one
substring search per entry and compiles nothing. Formats follow the issuers' public documentation.

Where a body may contain "-" or "_" a word like `glpat-rotation-policy-for-runners` has the right shape too; such
rules carry the check "random". `prefix` is what may be shown in a report, `body` is what may not.
"""

from quire.guard.rules import NearRule, Rule

_AN = "[A-Za-z0-9]"
_AND = "[A-Za-z0-9-]"
_WORD = "[A-Za-z0-9_]"
_URL64 = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"
_UUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"

RULES: tuple[Rule, ...] = (
    # Source code hosting and packages
    Rule("github-token", "GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "gh[pousr]_", _AN + "{36,255}"),
    Rule("github-fine-grained-token", "GitHub token", ("github_pat_",), "github_pat_", _WORD + "{22,255}", "random"),
    Rule(
        "gitlab-token",
        "GitLab token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-", "glimt-"),
        "gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt)-",
        _URL64 + r"{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
        "random",
    ),
    Rule("bitbucket-app-password", "Bitbucket app password", ("ATBB",), "ATBB", _AN + "{32}"),
    Rule("npm-token", "npm token", ("npm_",), "npm_", _AN + "{36}"),
    Rule("pypi-token", "PyPI token", ("pypi-Ag",), "pypi-Ag", _URL64 + "{50,}", "random"),
    Rule("rubygems-token", "RubyGems token", ("rubygems_",), "rubygems_", _HEX + "{48}"),
    Rule("crates-token", "crates.io token", ("cio",), "cio", _AN + "{32}", "random"),
    Rule("nuget-key", "NuGet API key", ("oy2",), "oy2", "[a-z0-9]{43}", "random"),
    Rule("docker-token", "Docker token", ("dckr_pat_", "dckr_oat_"), "dckr_[po]at_", _URL64 + "{27,}", "random"),
    Rule("buildkite-token", "Buildkite token", ("bkua_",), "bkua_", _HEX + "{40}"),
    Rule("postman-key", "Postman API key", ("PMAK-",), "PMAK-", _HEX + "{24}-" + _HEX + "{34}"),
    # Clouds and hosting
    Rule("aws-access-key-id", "AWS access key", ("AKIA", "ASIA", "ABIA"), "A[KSB]IA", "[A-Z0-9]{16}"),
    Rule("google-api-key", "Google API key", ("AIza",), "AIza", _URL64 + "{35}"),
    Rule("google-oauth-secret", "Google OAuth client secret", ("GOCSPX-",), "GOCSPX-", _URL64 + "{28}", "random"),
    Rule("google-oauth-token", "Google OAuth token", ("ya29.",), r"ya29\.", _URL64 + "{20,}", "random"),
    Rule("google-refresh-token", "Google refresh token", ("1//0",), "1//0", _URL64 + "{40,}", "random"),
    Rule("azure-storage-key", "Azure storage key", ("AccountKey=",), "AccountKey=", "[A-Za-z0-9+/]{86}={0,2}"),
    Rule(
        "azure-shared-access-key",
        "Azure shared access key",
        ("SharedAccessKey=",),
        "SharedAccessKey=",
        "[A-Za-z0-9+/_-]{38,86}={0,2}",
    ),
    Rule(
        "azure-client-secret",
        "Azure client secret",
        ("Q~",),
        "",
        r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}",
        back=(4,),
    ),
    Rule("digitalocean-token", "DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"), "do[opr]_v1_", _HEX + "{64}"),
    Rule("alibaba-access-key", "Alibaba Cloud access key", ("LTAI",), "LTAI", _AN + "{16,20}", "random"),
    Rule("heroku-key", "Heroku API key", ("HRKU-",), "HRKU-", _URL64 + "{36,80}", "random"),
    Rule("vercel-token", "Vercel token", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), "vc[piark]_", _AN + "{24,60}"),
    Rule("vercel-blob-token", "Vercel Blob token", ("vercel_blob_rw_",), "vercel_blob_rw_", _WORD + "{30,}", "random"),
    Rule("fly-token", "Fly.io token", ("fm2_", "fo1_"), "f(?:m2|o1)_", "[A-Za-z0-9+/=_-]{40,}", "random", reach=900),
    Rule("supabase-token", "Supabase token", ("sbp_",), "sbp_", _HEX + "{40}"),
    Rule("supabase-secret-key", "Supabase secret key", ("sb_secret_",), "sb_secret_", _URL64 + "{20,}", "random"),
    Rule(
        "planetscale-token",
        "PlanetScale token",
        ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
        "pscale_(?:tkn|pw|oauth)_",
        "[A-Za-z0-9_.=-]{32,64}",
        "random",
    ),
    Rule("databricks-token", "Databricks token", ("dapi",), "dapi", _HEX + r"{32}(?:-\d{1,2})?"),
    Rule(
        "tailscale-key",
        "Tailscale key",
        ("tskey-",),
        "tskey-(?:auth|api|client|scim|webhook)-",
        _AND + "{20,}",
        "random",
    ),
    # Secret stores and infrastructure
    Rule("vault-token", "HashiCorp Vault token", ("hvs.", "hvb."), r"hv[sb]\.", _URL64 + "{24,}", "random"),
    Rule(
        "terraform-token",
        "Terraform token",
        (".atlasv1.",),
        "",
        _AN + r"{14}\.atlasv1\." + _URL64 + "{60,}",
        back=(14,),
    ),
    Rule(
        "doppler-token", "Doppler token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.", "[A-Za-z0-9._-]{40,}", "random"
    ),
    Rule("pulumi-token", "Pulumi token", ("pul-",), "pul-", _HEX + "{40}"),
    Rule("onepassword-token", "1Password service account token", ("ops_eyJ",), "ops_eyJ", _URL64 + "{60,}", reach=900),
    Rule("age-secret-key", "age secret key", ("AGE-SECRET-KEY-1",), "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    Rule("sentry-token", "Sentry token", ("sntrys_", "sntryu_"), "sntry[su]_", "[A-Za-z0-9+/=_-]{40,}", "random"),
    Rule("grafana-token", "Grafana token", ("glsa_",), "glsa_", _AN + "{32}_[0-9A-Fa-f]{8}"),
    Rule("grafana-cloud-token", "Grafana Cloud token", ("glc_eyJ",), "glc_eyJ", "[A-Za-z0-9+/=]{32,}"),
    Rule("new-relic-key", "New Relic API key", ("NRAK-",), "NRAK-", "[A-Z0-9]{27}"),
    # Model providers
    Rule("anthropic-key", "Anthropic API key", ("sk-ant-",), "sk-ant-", _URL64 + "{20,}", "random"),
    Rule(
        "openai-key",
        "OpenAI API key",
        ("sk-",),
        "sk-(?:(?:proj|svcacct|admin|None|or-v1)-)?",
        _URL64 + "{20,}",
        "random",
    ),
    Rule("huggingface-token", "Hugging Face token", ("hf_", "api_org_"), "(?:hf|api_org)_", _AN + "{34,40}"),
    Rule("groq-key", "Groq API key", ("gsk_",), "gsk_", _AN + "{40,60}"),
    Rule("xai-key", "xAI API key", ("xai-",), "xai-", _AN + "{60,100}"),
    Rule("replicate-token", "Replicate token", ("r8_",), "r8_", _AN + "{37,40}"),
    Rule("perplexity-key", "Perplexity API key", ("pplx-",), "pplx-", _AN + "{40,60}"),
    Rule("langsmith-key", "LangSmith API key", ("lsv2_",), "lsv2_(?:pt|sk)_", _HEX + "{32}_" + _HEX + "{10}"),
    # Payment, mail, chat
    Rule("stripe-key", "Stripe secret key", ("sk_live_", "sk_test_"), "sk_(?:live|test)_", _AN + "{16,250}"),
    Rule("stripe-restricted-key", "Stripe key", ("rk_live_", "rk_test_"), "rk_(?:live|test)_", _AN + "{16,250}"),
    Rule(
        "webhook-signing-secret", "Stripe webhook secret", ("whsec_",), "whsec_", "[A-Za-z0-9+/]{24,}={0,2}", "random"
    ),
    Rule("square-token", "Square token", ("sq0atp-", "sq0csp-"), "sq0(?:atp|csp)-", _URL64 + "{22,43}", "random"),
    Rule("meta-token", "Meta access token", ("EAA",), "EAA", _AN + "{60,300}", "random"),
    Rule(
        "shopify-token",
        "Shopify token",
        ("shpat_", "shpca_", "shppa_", "shpss_"),
        "shp(?:at|ca|pa|ss)_",
        "[0-9A-Fa-f]{32}",
    ),
    Rule("sendgrid-key", "SendGrid API key", ("SG.",), r"SG\.", _URL64 + r"{16,32}\." + _URL64 + "{16,64}", "random"),
    Rule("mailgun-key", "Mailgun API key", ("key-",), "key-", _HEX + "{32}"),
    Rule("resend-key", "Resend API key", ("re_",), "re_", _AN + "{8}_" + _AN + "{24}", "random"),
    Rule("brevo-key", "Brevo API key", ("xkeysib-",), "xkeysib-", _HEX + "{64}-" + _AN + "{16}"),
    Rule("twilio-key", "Twilio API key", ("SK",), "SK", _HEX + "{32}"),
    Rule("slack-token", "Slack token", ("xox",), r"xox[abceoprs](?:\.xox[bp])?-", _AND + "{10,250}", "digit"),
    Rule("slack-app-token", "Slack app token", ("xapp-",), r"xapp-\d-", "[A-Z0-9]{8,}-[0-9]{8,}-[0-9a-f]{32,}"),
    Rule(
        "slack-webhook",
        "Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/",
        "[A-Za-z0-9]{8,15}/[A-Za-z0-9/]{20,80}",
        "digit",
    ),
    Rule("telegram-token", "Telegram bot token", (":AA",), "", r"\d{8,10}:AA" + _URL64 + "{33}", back=(10, 9, 8)),
    Rule(
        "discord-webhook",
        "Discord webhook",
        ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
        r"discord(?:app)?\.com/api/webhooks/",
        r"\d{17,20}/" + _URL64 + "{60,80}",
    ),
    # Work tools
    Rule("linear-key", "Linear API key", ("lin_api_", "lin_oauth_"), "lin_(?:api|oauth)_", _AN + "{40,64}"),
    Rule("notion-token", "Notion token", ("secret_", "ntn_"), "(?:secret|ntn)_", _AN + "{43,50}"),
    Rule("atlassian-token", "Atlassian token", ("ATATT3", "ATCTT3"), "AT[AC]TT3", "[A-Za-z0-9_=-]{50,}", "random"),
    Rule("figma-token", "Figma token", ("figd_",), "figd_", _URL64 + "{38,44}", "random"),
    # Keys and signed tokens
    Rule(
        "jwt",
        "JSON web token",
        ("eyJ",),
        "eyJ",
        rf"{_URL64}{{8,1000}}+\.{_URL64}{{4,4000}}+\.{_URL64}{{0,1000}}+(?:\.{_URL64}+)*",
        "jwt",
        reach=7000,
    ),
    Rule(
        "gcp-service-account-key",
        "Google service account key",
        ('"private_key"',),
        r'"private_key"\s{0,4}:\s{0,4}"-----BEGIN (?:RSA )?PRIVATE KEY-----',
        "",
        "pem",
        end="",
    ),
    Rule(
        "private-key",
        "private key",
        ("-----BEGIN ",),
        "-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
        "",
        "pem",
        end="",
    ),
    Rule(
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
    NearRule("airtable-token", "Airtable token", ("airtable",), rf"pat{_AN}{{14}}\.{_HEX}{{64}}"),
    NearRule("mailchimp-key", "Mailchimp API key", ("mailchimp",), _HEX + r"{32}-us\d{1,2}"),
    NearRule("datadog-key", "Datadog key", ("datadog", "dd_api", "dd_app"), f"(?:{_HEX}{{40}}|{_HEX}{{32}})"),
)
