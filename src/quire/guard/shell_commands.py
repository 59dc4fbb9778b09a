"""Find shell commands in a text and their effects: arguments, pipes, downloads that are run later.

Code spans, fenced blocks, lines after a prompt and commands in the middle of a sentence are taken apart alike: into
statements, these at their pipes, and each program that is known is looked at with what follows it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from quire.guard.patterns import pattern

Found = tuple[str, list[int], int]
"""An effect, where what makes it begins, and where it ends."""

_URL = r"(?:https?|ftp)://|(?:[\w-]+\.)+[a-z]{2,}/|\$\{?\w|(?:\d+\.){3}\d"
_SHELL = r"(?:(?:ba|z|da|k|c|fi)?sh|eval|source|iex|invoke-expression|pwsh|powershell|cmd)"
_RUNNER = rf"(?:{_SHELL}|python[\d.]*|perl|ruby|node|php|lua|deno|bun|osascript)"
_FETCHER = r"(?:curl|wget|aria2c|https?|xh|fetch|iwr|irm|invoke-webrequest|invoke-restmethod|certutil|bitsadmin|axel)"
_HOME = r"(?:~|\$\{?home\}?|%userprofile%|\$env:userprofile|/root|/home/\w+)"
_DANGER = rf"(?:{_HOME}/?\*?|/\*?|/(?:etc|usr|var|home|boot|lib)/?\*?|\.\.?/?|\./\*|\*|\.git|[a-z]:\\\*?)(?=[\s,;)]|$)"
"""What nobody wants to lose."""
_STARTUP = (
    r"(?:authorized_keys|\.(?:bash|zsh|ksh|fish)rc|\.(?:bash_|z)?profile|\.z?login|config\.fish|"
    r"/etc/(?:profile|rc\.local|cron|sudoers|init\.d|systemd)|\.git/hooks/|launch(?:agents|daemons)/|systemd/user/|"
    r"autostart/|\$profile\b|startup\\)"
)
_SENSITIVE = (
    r"(?<![\w.])\.env\b(?![.\w(])|\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|\.ssh\b(?!/\S*\.pub|/config|/known)|"
    r"\.(?:aws|netrc|npmrc|pypirc|kube|gnupg|git-credentials|docker/config)\b|/etc/(?:passwd|shadow)\b|login\.keychain|"
    r"\b(?:printenv|env)\s*(?:$|[|)])|\bgh auth token\b|\bget secrets?\b|find-(?:generic|internet)-password|"
    r"\bos\.environ\b(?!\.get|\[)|\bprocess\.env\b(?!\.)|\bget-childitem env:|\bvault kv get|\bsecretsmanager get"
)
_BODY = (
    r"(?:\s-d|--data[\w-]*|\s-f|--form\S*|--post-(?:data|file)|-body|[?&]\w+=|\bjson=|body:)\W{0,3}.{0,60}?"
    r"\$\{?\w*(?:token|secret|key|passw|credential)"
)
_NET = (
    r"\b(?:curl|wget|https?|xh|nc|ncat|netcat|telnet|ftp|sftp|scp|rsync|ssh|socat|mail|mailx|sendmail|nslookup|dig|host|"
    r"ping|iwr|irm|invoke-webrequest|invoke-restmethod|rclone|s3 cp|s3 sync|gist create|requests\.(?:post|put|get)|"
    r"fetch\(|axios|urlopen|transfer\.sh)(?![\w/:-])"
)
# The key to log in with, and where the answer goes.
_NOT_SENT = (
    r">+\s*\S+|\s(?:-i|-e|--key|--cert|--cacert|--identity\S*|--netrc-file|--env-file)[ =]+(?:\"ssh [^\"]*\"|\S+)"
)

_MOVING = r"@(?:latest|next|canary|main|master|head|\*)(?=\W|$)"
_FOREIGN = r"(?:git\+|git@|github:|gitlab:|bitbucket:|https?://|\s[\w.-]+/[\w.-]+#)"
_INDEX = rf"\s(?:-i|--(?:extra-)?index(?:-url)?|--default-index|--find-links|-f)[ =]{_FOREIGN}"
_ANY = r"\s+(?:-\S+\s+)*(?!.*(?:@|==)\d)[@\w]"
_PIP = (
    (rf"\sinstall\b.*(?:\s{_FOREIGN}|@ git\+|{_INDEX}|\s-r {_FOREIGN})", "runs-package"),
    (r"--trusted-host", "disables-check"),
)
_NPM = (
    (rf"\s(?:i|install|add|exec|x)\b.*(?:\s{_FOREIGN}|--registry[ =])", "runs-package"),
    (rf"\s(?:exec|x)\b.*\s(?:-y|--yes)\b|\s(?:dlx|create|exec|x)\b.*{_MOVING}", "runs-package"),
    (r"\sconfig set.*registry[ =]+http", "runs-package"),
    (r"\sconfig set strict-ssl[ =]+false|--strict-ssl[ =]false", "disables-check"),
)
_DLX = (rf"\sdlx{_ANY}", "runs-package")
_RUNS_ANY = ((rf"^{_ANY}", "runs-package"), (_FOREIGN, "runs-package"))
_CONTAINER = (
    (
        r"--privileged\b|\s(?:-v|--volume)[ =]/:/|(?:source|src)=/,|docker\.sock|--(?:pid|userns|ipc)[ =]host|"
        r"--cap-add[ =](?:all|sys_admin|sys_ptrace|sys_module)|=unconfined\b|--device[ =]/dev/(?:sd|nvme|mem)",
        "privileged",
    ),
    (r"^\s+run\b.*\$\(\s?(?:curl|wget)\b", "runs-package"),
)
_NO_SIGNATURE = (r"--allow-unauthenticated|allowunauthenticated=true|--nogpgcheck|--no-gpg-check", "disables-check")
_ANSWERS = (r"\s-\w*[ec]\s+\S*sh\b|--(?:sh-)?exec\b|\s-c\s+/bin", "gives-access")
_FETCHED_CODE = (r"\shttps?://", "downloads-and-runs")

PROGRAMS: dict[str, tuple[tuple[str, str], ...]] = {
    "npx": ((rf"\s(?:-y|--yes)\b|{_MOVING}|\s{_FOREIGN}", "runs-package"),),
    "npm": _NPM,
    "pnpm": (*_NPM, _DLX),
    "yarn": (*_NPM, _DLX),
    "bun": (*_NPM, (rf"^\s+x{_ANY}", "runs-package")),
    "bunx": _RUNS_ANY,
    "pnpx": _RUNS_ANY,
    "uvx": _RUNS_ANY,
    "pipx": ((rf"^\s+run{_ANY}|\s(?:install|run|inject)\b.*(?:{_FOREIGN}|{_INDEX})", "runs-package"),),
    "pip": _PIP,
    "pip3": _PIP,
    "uv": (
        (
            rf"\s(?:add|install)\b.*(?:\s{_FOREIGN}|{_INDEX})|\stool run{_ANY}|--(?:from|with)[ =]{_FOREIGN}",
            "runs-package",
        ),
        (r"\srun\b.*\shttps?://", "downloads-and-runs"),
    ),
    "poetry": ((rf"\sadd\b.*\s{_FOREIGN}", "runs-package"),),
    "go": ((rf"^\s+(?:run|install|get)\b.*\S\.\S*/\S+{_MOVING}", "runs-package"),),
    "cargo": ((r"^\s+install\b.*--(?:git|index|registry)[ =]", "runs-package"),),
    "gem": ((r"^\s+install\b.*(?:--source|-s)[ =]+http", "runs-package"),),
    "nix": ((r"^\s+(?:run|shell|profile install)\s.*(?:github|gitlab|git\+|tarball)\S*:", "runs-package"),),
    "dotnet": ((r"\sinstall\b.*--(?:add-)?source[ =]http", "runs-package"),),
    "brew": ((r"^\s+(?:install|tap)\b.*\shttps?://", "runs-package"),),
    "deno": ((r"^\s+run\b.*\s(?:https?://|npm:)", "downloads-and-runs"), (r"^\s+install\b.*\shttps?:", "runs-package")),
    "mshta": (_FETCHED_CODE,),
    "regsvr32": (_FETCHED_CODE,),
    "docker": _CONTAINER,
    "podman": _CONTAINER,
    "nerdctl": _CONTAINER,
    "kubectl": (
        (r"privileged:\s?true|hostpid:\s?true", "privileged"),
        (r"--insecure-skip-tls-verify", "disables-check"),
        (r"\sdelete\b.*(?:\s(?:namespaces?|ns)\s+\w|--all\b)", "destroys"),
    ),
    "nsenter": ((r"(?:-t|--target)[ =]?1\b", "privileged"),),
    "usermod": ((r"\s-\w*g\s+\S*\b(?:sudo|docker|wheel|root|admin)\b", "privileged"),),
    "chmod": (
        (r"^\s+(?:-\w+\s+)*(?:0?777\b|(?:a|o|ugo)\+rwx)", "disables-check"),
        (r"^\s+(?:-\w+\s+)*(?:[ug]*\+s|[2467]\d{3})\b", "privileged"),
    ),
    "git": (
        (r"--no-verify\b|sslverify[ =]+(?:false|0)|core\.hookspath=/dev/null", "disables-check"),
        (r"^\s+push\b.*(?:\s--force(?![\w-])|\s-[a-z]*f\b|\s\+\w|--mirror\b)", "destroys"),
        (r"^\s+push\b.*(?:--delete|\s-d|\s:)\s*(?:main|master|trunk|production|release)\b", "destroys"),
        (
            r"--(?:global|system)\s+(?:core\.(?:hookspath|fsmonitor|sshcommand)|alias\.\w+\s+!|init\.templatedir)",
            "persists",
        ),
    ),
    "curl": ((r"\s-[a-z]*k[a-z]*\b(?!\s*=)|--insecure\b", "disables-check"),),
    "wget": ((r"--no-check-certificate", "disables-check"),),
    "apt": (_NO_SIGNATURE,),
    "apt-get": (_NO_SIGNATURE,),
    "yum": (_NO_SIGNATURE,),
    "dnf": (_NO_SIGNATURE,),
    "setenforce": ((r"^\s+(?:0|permissive)", "disables-check"),),
    "ufw": ((r"^\s+(?:--force )?(?:disable|reset)", "disables-check"),),
    "iptables": ((r"\s(?:-f|--flush)\b|-p input accept", "disables-check"),),
    "spctl": ((r"--(?:master|global)-disable", "disables-check"),),
    "csrutil": ((r"^\s+disable", "disables-check"),),
    "set-executionpolicy": ((r"bypass|unrestricted", "disables-check"),),
    "set-mppreference": ((r"-disable\w+\s+(?:\$true|1)", "disables-check"),),
    "crontab": ((r"^\s+(?:-u \w+ )?(?:-(?=\s|$)|[\w./~]+(?=\s*$))", "persists"),),
    "launchctl": ((r"^\s+(?:load|bootstrap|submit|enable)\b", "persists"),),
    "schtasks": ((r"/create\b", "persists"),),
    "register-scheduledtask": ((r"\S", "persists"),),
    "reg": ((r"^\s+add\b.*\\run\b", "persists"),),
    "systemctl": ((r"--user\b.*\senable\b|\senable\b.*--user\b", "persists"),),
    "ssh-copy-id": ((r"\s\S", "persists"),),
    "rm": ((rf"^(?=.*?\s-(?:\w*r|-recursive)).*?\s{_DANGER}", "destroys"), (r"_history\b|/var/log\b", "hides")),
    "remove-item": ((rf"^(?=.*-recurse).*?\s{_DANGER}", "destroys"),),
    "del": ((r"^(?=.*/s\b).*[a-z]:\\", "destroys"),),
    "format": ((r"^\s+[a-z]:", "destroys"),),
    "find": ((rf"^\s+{_DANGER}.*(?:-delete\b|-exec rm\b)", "destroys"),),
    "dd": ((r"\bof=/dev/(?:sd|nvme|disk|hd|vd|mmc)", "destroys"),),
    "shred": ((r"\s(?:~|/|\$home)", "destroys"), (r"_history\b", "hides")),
    "wipefs": ((r"\s/dev/", "destroys"),),
    "terraform": ((r"^\s+(?:-\S+ )*(?:destroy\b.*-auto-approve|apply\b.*-destroy)", "destroys"),),
    "aws": ((r"\ss3 (?:rb\b.*--force|rm\b.*--recursive)|\sdelete-(?:bucket|db-instance|stack|table)\b", "destroys"),),
    "gh": ((r"^\s+repo delete\b", "destroys"),),
    "dropdb": ((r"^\s+\w", "destroys"),),
    "redis-cli": ((r"\bflush(?:all|db)\b", "destroys"),),
    "drop": ((r"^\s+(?:database|schema)\s+(?!if exists (?:test|tmp))\w", "destroys"),),
    "history": ((r"^\s+-c\b", "hides"),),
    "unset": ((r"^\s+hist(?:file|size)", "hides"),),
    "nc": (_ANSWERS,),
    "ncat": (_ANSWERS,),
    "netcat": (_ANSWERS,),
    "socat": ((r"exec:|system:", "gives-access"),),
    "ssh": (
        (r"stricthostkeychecking[ =]no|userknownhostsfile=/dev/null", "disables-check"),
        (r"\s-\w*r\s+\S*\d+:", "gives-access"),
    ),
    "ngrok": ((r"^\s+(?:tcp|ssh)\b", "gives-access"),),
}
"""By program, what of its arguments has which effect."""

_CALL = (
    r"(?:urlopen|urlretrieve|requests?\.get|httpx\.get|downloadstring|downloadfile|webclient|\bfetch\(|open-uri|"
    r"uri\.open|lwp|net::http|https?\.get|file_get_contents|invoke-webrequest|invoke-restmethod|\birm\b|\biwr\b|\bget\()"
)
_CODE = (
    r"\b(?:exec|eval|system|popen|iex|invoke-expression|function|check_output|subprocess\.\w+|instance_eval|"
    r"loadstring)\b"
)
# What has its effect without a program before it, and words of which one stands in the line.
_BARE = (
    (
        r"tls_reject_unauthorized\W{1,3}0|git_ssl_no_verify\W{1,3}(?:1|true)|pythonhttpsverify\W{1,3}0|\bhusky=0|"
        r"\bverify(?:_ssl)?\s?=\s?false\b|rejectunauthorized\W{1,3}false|insecureskipverify\W{1,3}true|ssl_verify_none|"
        r"\bcert_none\b|_create_unverified_context|servercertificatevalidationcallback|-skipcertificatecheck|"
        r"sslverify\W{1,3}false|stricthostkeychecking[ =]+no\b|curlopt_ssl_verifypeer\W{1,3}(?:0|false)|"
        r"--dangerously-skip-permissions|--dangerously-bypass\S*|--yolo\b|-executionpolicy bypass|-ep bypass",
        "disables-check",
        "unauthorized ssl pythonhttpsverify husky verify rejectunauthorized insecureskipverify cert unverified "
        "sslverify servercertificatevalidationcallback skipcertificatecheck stricthostkeychecking verifypeer "
        "dangerously yolo bypass",
    ),
    (
        r"\b(?:use|run|add|set|pass|commit|push|merge|append|always|call|start|retry|mit|con|avec|usa|utilise)\b"
        r"[^.;\n]{0,40}?--(?:no-verify|insecure|no-check-certificate|no-gpg-check)\b",
        "disables-check",
        "verify insecure certificate gpg",
    ),
    (
        r"\bprivileged:\s{1,3}true\b|allowprivilegeescalation:\s?true|\bhostpid:\s?true|nopasswd:\s?all",
        "privileged",
        "privileged allowprivilegeescalation hostpid nopasswd",
    ),
    (r"\bpip_(?:extra_)?index_url\s?=\s?http|npm_config_registry\s?=\s?http", "runs-package", "index registry"),
    (
        rf">\s*\S*{_STARTUP}|\btee\s+(?:-\S+\s+)*\S*{_STARTUP}|\b(?:cp|mv|ln|install)\s[^|;\n]*{_STARTUP}",
        "persists",
        "keys bashrc zshrc kshrc fishrc profile zprofile login zlogin fish etc hooks launchagents launchdaemons "
        "systemd autostart startup",
    ),
    (r"\bmkfs(?:\.\w+)?\s+\S*/dev/|>\s*/dev/(?:sd|nvme|disk)\w", "destroys", "mkfs dev"),
    (
        r"/dev/(?:tcp|udp)/\S+/\d|\bsh -i\b[^\n]{0,20}\|\s*nc\b|"
        r"\bsocket\b[^\n]{0,80}?\bconnect\b[^\n]{0,80}?(?:dup2|spawn|subprocess)",
        "gives-access",
        "tcp udp nc socket",
    ),
    (r"\bhist(?:file|size)=(?:/dev/null|0|\s|$)|\bset \+o history", "hides", "histfile histsize history"),
    (
        rf"{_CODE}[^\n]{{0,60}}?{_CALL}[^\n]{{0,60}}?(?:{_URL})|{_CALL}[^\n]{{0,30}}?(?:{_URL})[^\n]{{0,140}}?{_CODE}[)(]"
        rf"|{_CALL}[^\n]{{0,40}}?(?:{_URL})[^\n]{{0,140}}?\|\s*(?:iex|invoke-expression)\b"
        rf"|\b{_RUNNER}\b[^|;\n]{{0,24}}?(?:[$<]\(|(?<=[\s\"'])`)\s*{_FETCHER}\b[^\n]{{0,80}}?(?:{_URL})"
        rf"|\b{_FETCHER}\s[^\n]{{0,80}}?(?:{_URL})[^\n]{{0,60}}?\|\s*tar\s[^\n]{{0,40}}?&&\s*\.?/",
        "downloads-and-runs",
        "http https ftp urlopen urlretrieve requests httpx fetch curl wget irm iwr webclient invoke downloadstring get",
    ),
)

_DECODES = r"\bbase64\s+(?:-d|--decode)\b|\bxxd\s+-r|\bopenssl\s+(?:enc|base64)\b.*\s-d\b"
_TAKES = rf"(?<![\w./-]){_FETCHER}\s[^|]*?(?:{_URL})|{_DECODES}"
_PIPED = (
    r"^\s*(?:(?:sudo|doas|env|exec|xargs|nohup)\s+(?:-\S+\s+|\w+=\S+\s+)*){0,3}(?:/[\w/]+/)?"
    rf"({_RUNNER})(?:\.exe)?\b(.*)"
)
_LEADS = r"(?:^[\s$#>(]*(?:sudo\s+|\w+=\S*\s+)*|\b(?:run|execute|start|use|via|with|ejecuta|lance[rz]?|fuhre)\s+)$"
_READS_FILE = r"^\s+(?:-[mcepn]\w*\b|[\w./-]+\.\w{1,4}\b)"
_TARGET = r"(?:\s-\w*o|--output(?:-document)?|-outfile|>)[ =]*([^\s|;&>]+)"
_STARTS = (
    r"(?:sh|bash|zsh|dash|source|\.|python[\d.]*|perl|ruby|node|php|chmod|start|start-process|dpkg|rpm|msiexec|open|"
    r"install|java|sudo|exec|xdg-open|chroot|installer|run|nohup|make)"
)
_CALLED = rf"(?:(?:^|\s)(?:\./|~/|/|[a-z]:\\|\$)\S*|(?:^|\s){_STARTS}\s[^|]*?|^\s*)"
_DOWNLOADS = rf"(?<![\w./-])(?:{_FETCHER}|git\s+clone)\s([^|]*)"

_STATEMENT = re.compile(r";|&&|\|\||`+|\s&(?=\s|$)|(?<=[^\s.])[.!?](?=\s)|[。！？]")
_LONGEST = 600
_REST = 200
"""Of what follows a program."""
_FETCHED = 20
_WORD = re.compile(r"[a-z0-9]+")
_TAKING = "curl wget aria2c http https xh fetch iwr irm invoke certutil bitsadmin axel base64 xxd openssl git"
_SENDING = (
    "curl wget http https xh nc ncat netcat telnet ftp sftp scp rsync ssh socat mail mailx sendmail nslookup dig host "
    "ping iwr irm invoke rclone s3 gist requests fetch axios urlopen transfer"
)


@functools.cache
def _programs() -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, PROGRAMS), key=len, reverse=True))
    return re.compile(rf"\b(?<![\w.@=-])({names})(?:\.exe)?(?![\w.:=/@-])")


@functools.cache
def _known() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Words of which a line has one that holds a known program, fetches something, or sends something."""
    programs = frozenset(max(_WORD.findall(name), key=len) for name in PROGRAMS)
    return programs, frozenset(_TAKING.split()), frozenset(_SENDING.split())


@functools.cache
def _bare() -> list[tuple[str, str, frozenset[str]]]:
    return [(pattern, effect, frozenset(words.split())) for pattern, effect, words in _BARE]


def command_effects(text: str) -> Iterator[Found]:
    """The effects of the commands in a folded text, each with where it stands."""
    fetched: list[tuple[str, int]] = []
    at = 0
    for line in text.replace("\\\n", "  ").split("\n"):
        shown = _cells(line) if line.startswith("|") else line
        for begin in range(0, len(shown), _LONGEST):
            yield from _line_effects(shown[begin : begin + _LONGEST], at + begin, fetched)
        at += len(line) + 1


def _line_effects(line: str, start: int, fetched: list[tuple[str, int]]) -> Iterator[Found]:
    # A pattern is made and tried only where one of its words stands: this runs for every line of every record.
    words = set(_WORD.findall(line))
    for form, effect, needed in _bare():
        if not needed.isdisjoint(words):
            for found in pattern(form).finditer(line):
                yield effect, [start + found.start()], start + found.end()
    if ":(){" in line.replace(" ", ""):
        yield "destroys", [start], start + len(line)
    knows, takes, sends = (not some.isdisjoint(words) for some in _known())
    if not (knows or takes or sends or fetched):
        return
    at = 0
    for end in (*_STATEMENT.finditer(line), None):
        stop = end.start() if end else len(line)
        statement = line[at:stop]
        if knows:
            yield from _program_effects(statement, start + at)
        if takes and "|" in statement:
            yield from _piped_effects(statement, start + at)
        if sends:
            yield from _sent_effects(statement, start + at)
        if takes or fetched:
            yield from _later_effects(statement, start + at, fetched)
        at = end.end() if end else stop


def _cells(row: str) -> str:
    """A row of a table with its bars replaced, except in code."""
    return "`".join(part if number % 2 else part.replace("|", ";") for number, part in enumerate(row.split("`")))


def _program_effects(statement: str, start: int) -> Iterator[Found]:
    at = 0
    for stage in statement.replace('"', " ").replace("'", " ").split("|"):
        for found in _programs().finditer(stage):
            rest = stage[found.end() : found.end() + _REST]
            for form, effect in PROGRAMS[found.group(1)]:
                hit = pattern(form).search(rest)
                # Other programs need an argument that no sentence has.
                if hit and (form != _RUNS_ANY[0][0] or pattern(_LEADS).search(stage[: found.start()])):
                    yield effect, [start + at + found.start()], start + at + found.end() + hit.end()
        at += len(stage) + 1


def _piped_effects(statement: str, start: int) -> Iterator[Found]:
    fetch = pattern(_TAKES).search(statement)
    if fetch:
        for stage in statement[fetch.end() :].split("|")[1:]:
            run = pattern(_PIPED).search(stage)
            if run and not pattern(_READS_FILE).search(run.group(2)):
                yield "downloads-and-runs", [start + fetch.start()], start + len(statement)


def _sent_effects(statement: str, start: int) -> Iterator[Found]:
    if pattern(_NET).search(statement):
        plain = pattern(_NOT_SENT).sub(" ", statement)
        if pattern(_SENSITIVE).search(plain) or pattern(_BODY).search(plain):
            yield "sends-secret", [start], start + len(statement)


def _later_effects(statement: str, start: int, fetched: list[tuple[str, int]]) -> Iterator[Found]:
    """What an earlier statement downloaded, and this one starts."""
    for name, at in fetched:
        if name in statement and re.search(rf"{_CALLED}(?<![\w-]){re.escape(name)}(?![\w-])", statement):
            yield "downloads-and-runs", [at], start + len(statement)
    for found in pattern(_DOWNLOADS).finditer(statement):
        rest = found.group(1)
        if len(fetched) >= _FETCHED or not pattern(_URL).search(rest):
            continue
        names = [target for target in pattern(_TARGET).findall(rest) if "://" not in target]
        names += [word.removesuffix(".git") for word in rest.split() if "/" in word or "." in word]
        for name in names:
            base = re.split(r"[/\\]", name.strip("\"'`,.)/"))[-1]
            if len(base) > 1 and not base.startswith("-"):
                fetched.append((base, start + found.start()))
