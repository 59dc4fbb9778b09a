r"""Rules for markup that steers a model: conversation turns, tool calls, fences, commands that send or run.

Each mark is looked for only where its literal stands. Commands, and sentences that send something away, are looked at
line by line, because what makes them dangerous stands apart: what is taken, and where it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.guard.effects import is_denied
from quire.guard.patterns import pattern

_ROLES = "role-play markup"
_TOOLS = "tool call markup"
_FENCE = "forged fence"
_AGENT = "agent directive"
_RUN = "download and run"
_AWAY = "exfiltration"

_LINE = 600
"""How much of a line is looked at in one piece; the next begins a little before its end."""
_OVERLAP = 200

# Flag, a literal that must stand in the text, and the pattern.
_MARKS: tuple[tuple[str, str, str], ...] = (
    (_ROLES, "<|", r"<\|[ ]{0,2}[a-z][a-z_ ]{1,30}\|>"),
    (_ROLES, "inst]", r"\[/?inst\]"),
    (_ROLES, "sys>>", r"<</?sys>>"),
    (_ROLES, "_of_turn>", r"<(?:start|end)_of_turn>"),
    (_ROLES, "<system", r"<system[-_](?:reminder|prompt|message|instructions?|note)\b"),
    # An element of that name in a configuration has no sentence in it.
    (
        _ROLES,
        "<system>",
        r"<system>\s{0,4}(?!(?:element|tag|node|block|section|property)\b)\w+[^\w<>]{1,4}\w+[^\w<>]{1,4}\w",
    ),
    (_ROLES, "system>", r"^[ \t]{0,4}</?system>[ \t]{0,4}(?:\w|$)"),
    (_ROLES, "<assistant>", r"<assistant>\s{0,4}\w"),
    (_ROLES, "<human>", r"<human>\s{0,4}\w"),
    (
        _ROLES,
        "##",
        r"^[ \t]{0,3}#{2,6}[ \t]{0,3}(?:system|instruction|human|assistant|user)[ \t]{0,3}(?:prompt|message)?:",
    ),
    (_ROLES, "human:", r"\n\n[ \t]{0,3}human:"),
    # Both turns on one line, as where lines were joined.
    (
        _ROLES,
        "assistant:",
        r"(?:^|: )[ \t>*_]{0,4}(?:human|user)[*_]{0,2}:[^\n]{1,300}[.?!][ ]{1,4}assistant[*_]{0,2}:",
    ),
    (
        _ROLES,
        "system:",
        r"^\W{0,6}system:\W{0,4}(?:new|you|ignore|the (?:user|assistant)|from now|do not|disregard|override)\b",
    ),
    (_ROLES, "[system", r"\[system[ _](?:message|prompt|note|override|instructions?|update|notice)\]"),
    (_ROLES, "[system]", r"\[system\](?:\(#|[ \t]{1,3}\w)"),
    (_ROLES, "system override", r"[=*#\[<!-][ ]{0,3}system override|system override[ ]{0,2}[:\]]"),
    (
        _ROLES,
        'role"',
        r"['\"]role['\"]\s{0,3}:\s{0,3}['\"](?:system|assistant|"
        r"developer)['\"]\s{0,3},\s{0,3}['\"]content['\"]\s{0,3}:",
    ),
    (_TOOLS, "tool", r"<[ ]{0,2}/?[ ]{0,2}tool[-_ ]?(?:calls?|use|results?|response|output|code)\b"),
    (_TOOLS, "function", r"<[ ]{0,2}/?[ ]{0,2}function(?:[-_ ]?(?:calls?|results?|response)\b|=\w)"),
    (_TOOLS, "<invoke", r"<invoke\s{1,4}name\s{0,2}="),
    (_TOOLS, "<parameter", r"<parameter\s{1,4}name\s{0,2}="),
    (_TOOLS, "[tool_", r"\[tool_(?:calls?|results?)\]"),
    (_TOOLS, "python_tag", r"<\|python_tag\|>"),
    (_TOOLS, "tool_", r"['\"]type['\"]\s{0,3}:\s{0,3}['\"]tool_(?:use|result|call)['\"]"),
    (_TOOLS, "_call", r"['\"](?:function_call|tool_calls?)['\"]\s{0,3}:\s{0,3}[\[{]"),
    (
        _TOOLS,
        "arguments",
        r"\{\s{0,4}['\"](?:name|"
        r"tool)['\"]\s{0,3}:\s{0,3}['\"][\w.-]{1,60}['\"]\s{0,3},\s{0,4}['\"]arguments['\"]\s{0,3}:",
    ),
    (_TOOLS, "action input:", r"^[ \t]{0,3}action:[^\n]{1,100}\n[ \t]{0,3}action input:"),
    (_FENCE, "memory", r"<[ ]{0,2}/?[ ]{0,2}memory-[0-9a-f]{6,}|</[ ]{0,2}memory[ ]{0,2}>"),
    (_FENCE, "</", r"</[ ]{0,2}(?:recalled|untrusted|retrieved)[\w-]{0,30}>"),
    (
        _FENCE,
        "end of",
        r"(?:[-=*#<\[({][ ]{0,3}end of (?:the |all )?(?:recalled |untrusted |retrieved )?"
        r"(?:memory|memories|context|data|instructions?|prompt|conversation|records?)\b"
        r"|end of (?:memory|context|data|prompt|instructions)[^\w\n]{1,6}begin\b)",
    ),
    (
        _FENCE,
        "begin",
        r"begin(?: of)?(?: the)? (?:system|user|assistant|developer) (?:message|prompt|instruction|input|request)",
    ),
    (_FENCE, "ends here", r"\b(?:recalled|quoted|untrusted) (?:part|data|text|memory|section) ends here"),
    (_FENCE, "real request", r"\breal request (?:of|from|by) the user"),
    (
        _AGENT,
        ":",
        r"^\W{0,6}(?:ai|assistant|agent|llm|claude|chatgpt)s?:[ ]{0,3}(?:remember|ignore|always|never|you (?:must|are)|"
        r"do not|forget|run|execute|send|from now|reply|respond|answer|say)\b",
    ),
    (_AGENT, "<important>", r"<important>\s{0,4}\w"),
)
# Both must begin a line for a conversation to be forged.
_TURNS = (r"^[ \t>*_]{0,4}(?:human|user)[*_]{0,2}:", r"^[ \t>*_]{0,4}assistant[*_]{0,2}:")

_FETCH = re.compile(r"\b(?:curl|wget|irm|iwr|invoke-webrequest|invoke-restmethod|base64[ ]{1,3}(?:-d|--decode))\b")
_INTO_SHELL = re.compile(
    r"\|[ ]{0,4}(?:sudo[ ]{1,3}(?:-\w{1,10}[ ]{1,3}){0,3})?(?:/[\w/]{1,20}/)?"
    r"(?:(?:ba|z|da|k|fi)?sh|python[\d.]{0,5}|perl|ruby|node|php|iex|pwsh|powershell)\b"
    r"|(?:&&|;)[ ]{0,3}chmod[ ]{1,3}(?:\+x|[0-7]{3,4})\b"
)
_SHELL_OF = re.compile(
    r"\b(?:ba|z)?sh[ ]{1,3}<\([ ]{0,3}(?:curl|wget)\b"
    r"|\b(?:sh|bash|zsh|python[\d.]{0,5}|eval|source|node|perl|"
    r"ruby)\b[^\w$`\n]{0,6}(?:-\w{1,3}[^\w$`\n]{0,4})?(?:\$\(|`)"
    r"[ ]{0,3}(?:curl|wget)[ ]{1,3}[^`\s]"
)
_EXPRESSION = re.compile(r"\b(?:downloadstring|irm|iwr|webclient|invoke-webrequest|invoke-restmethod)\b")
_TOLD_TO_FETCH = re.compile(r"\b(?:download|fetch|retrieve|pull|get)\b")
_TOLD_TO_RUN = re.compile(
    r"\b(?:execute|run|install|source|eval)[ ]{1,3}(?:it|them|that|the (?:script|file|binary|installer|result))\b"
)
_SENSITIVE = re.compile(
    r"(?<![\w.])\.env\b(?!\.)|\bid_(?:rsa|ed25519)\b|\.ssh\b|\.aws/|credentials\b|/etc/(?:passwd|shadow)\b|\.netrc\b"
)
_DATA = re.compile(r"(?:^|\s)(?:-d|-f|-t|--data[\w-]{0,10}|--form|--upload-file|--post-file)\b|\$\((?:cat|base64)\b")
_ALL_VARIABLES = re.compile(r"\b(?:env|printenv)\b[ ]{0,3}\||\$\((?:env|printenv)\b")
_NET = re.compile(r"\b(?:curl|wget|nc|ncat|netcat|telnet)\b")
_TAKEN = re.compile(
    r"(?<![\w.])\.env\b(?!\.)|environment variables?|env vars?|\bprintenv\b|\bsecrets\b|credentials?\b|passwords?\b|"
    r"\b(?:api|private|ssh|access|signing)[ _-]?keys?\b|\bid_(?:rsa|ed25519)\b|\.ssh\b|\.aws/|\.netrc\b|\.npmrc\b|"
    r"/etc/(?:passwd|shadow)\b|\btokens\b|\bcookies\b|\bconversation\b|\bchat (?:history|log)\b|\bsource code\b|"
    r"\bsystem prompt\b|\bmemory files?\b|\bkeychain\b"
)
# Where none is used, none is taken.
_NONE_USED = re.compile(
    r"\b(?:without(?:\s{1,6}any)?|(?:with|needs?|requires?|takes?)\s{1,6}no)\s{1,6}"
    r"(?:credentials?|passwords?|secrets|tokens|cookies|(?:api|private|ssh|access|signing)[ _-]?keys?)\b"
)
_PLACE = re.compile(
    r"https?://|ftp://|\bwebhook\b|\bpastebin\b|\bgist\b|\w@[\w-]{1,64}\.[a-z]|"
    r"\b(?:remote|external|my|following) (?:server|url|endpoint|address|host|site)\b"
)
_SENDS = re.compile(
    r"\b(?:send|post|upload|transmit|forward|exfiltrate|leak|e-?mail|mail|submit|relay|deliver|paste|share)\b"
)
# These are said of ordinary things too, so where they go must be a place that takes what is added to it.
_ADDS = re.compile(r"\b(?:add|include|append|put|encode|copy|attach|insert|embed)\b")
_TAKES = re.compile(r"[?&][\w-]{0,20}=|query (?:parameter|string)|\brequest to https?://|\bgist\b|\bpastebin\b")
_READ = re.compile(r"\b(?:read|open|load|cat|take)\b")
_HANDED_ON = re.compile(r"\b(?:include|append|attach|embed|paste|send|upload|pass)\b")
_CARRIES = re.compile(
    r"\b(?:append|add|attach|encode)\b[^\n]{0,60}\bto (?:the url |this url )?[`'\"]?https?://\S{1,120}="
)
_IMAGE = re.compile(r"!\[[^\]\n]{0,80}\]\(https?://([^)\s]{1,300})")
_OPEN = re.compile(r"\{|<|\$|%7b|\[|=$")
# Literals without which none of the patterns above can match.
_FETCHES = ("curl", "wget", "irm", "iwr", "iex", "invoke-", "base64", "http")
_SHELLS = ("|", "&&", ";", "$(", "`", "<(", "iex", "run", "execute", "install", "source", "eval")
_NETS = ("curl", "wget", "nc ", "ncat", "netcat", "telnet")
_SECRETS = (
    *("env", "secret", "credential", "password", "key", "id_rsa", "id_ed", ".ssh", ".aws", ".netrc", ".npmrc", "/etc/"),
    *("tokens", "cookies", "conversation", "chat ", "source code", "system prompt", "memory file"),
)
_PLACES = ("://", "@", "webhook", "gist", "pastebin", "server", "url", "endpoint", "address", "host", "site")


def mark_flags(text: str) -> Iterator[str]:
    """The flags of the marks in a folded text."""
    for flag, literal, mark in _MARKS:
        if literal in text and pattern(mark, re.MULTILINE).search(text):
            yield flag
    if "assistant" in text and all(pattern(turn, re.MULTILINE).search(text) for turn in _TURNS):
        yield _ROLES


def command_flags(text: str) -> set[str]:
    """The flags of lines that send something away, or run what they fetched."""
    found: set[str] = set()
    fetches = _has(text, _FETCHES) and _has(text, _SHELLS)
    secrets = _has(text, _SECRETS)
    commands = secrets and _has(text, _NETS)
    images = "http" in text and ("](http" in text or "append" in text or "add " in text or "attach" in text)
    if not (fetches or secrets or images):
        return found
    for line in _lines(text):
        if fetches and _has(line, _FETCHES) and _runs(line):
            found.add(_RUN)
            fetches = False
        if (commands and _gives_away(line)) or (secrets and _sends(line)) or (images and _leads_out(line)):
            found.add(_AWAY)
            commands = secrets = images = False
    return found


def _has(text: str, words: tuple[str, ...]) -> bool:
    # A plain loop: this runs for every line of a long text.
    for word in words:  # noqa: SIM110
        if word in text:
            return True
    return False


def _runs(line: str) -> bool:
    """Whether what is fetched is run. Each thing is looked for after the one before, so that a line is read once."""
    if not _has(line, _SHELLS):
        return False
    fetch = _FETCH.search(line)
    run = fetch and (_INTO_SHELL.search(line, fetch.end()) or _SHELL_OF.search(line))
    if fetch and run:
        return not is_denied(line, (min(fetch.start(), run.start()),), run.end())
    if "iex" in line and _EXPRESSION.search(line):
        return True
    told = _TOLD_TO_FETCH.search(line) if "http" in line else None
    address = line.find("http", told.end()) if told else -1
    return address >= 0 and _TOLD_TO_RUN.search(line, address) is not None


def _gives_away(line: str) -> bool:
    """Whether a command takes what is secret and hands it to another machine."""
    if not _has(line, _NETS) or not _has(line, _SECRETS) or not _NET.search(line):
        return False
    if _ALL_VARIABLES.search(line):
        return True
    if not _SENSITIVE.search(line):
        return False
    return _DATA.search(line) is not None or ("|" in line and _NET.search(line, line.index("|")) is not None)


def _sends(line: str) -> bool:
    """Whether it orders the reader to send what is secret to some place."""
    if not _has(line, _SECRETS):
        return False
    line = _NONE_USED.sub("", line)
    sensitive = _SENSITIVE.search(line)
    if sensitive and _READ.search(line, 0, sensitive.start()) and _HANDED_ON.search(line, sensitive.end()):
        return True
    if not _has(line, _PLACES) or not _TAKEN.search(line) or not _PLACE.search(line):
        return False
    if any(not is_denied(line, (sent.start(),), len(line)) for sent in _SENDS.finditer(line)):
        return True
    return _ADDS.search(line) is not None and _TAKES.search(line) is not None


def _leads_out(line: str) -> bool:
    """Whether an address has a place for what is to be carried out."""
    return _CARRIES.search(line) is not None or any(_OPEN.search(image.group(1)) for image in _IMAGE.finditer(line))


def _lines(text: str) -> Iterator[str]:
    """Each different line once, a long one in pieces that overlap."""
    for line in dict.fromkeys(text.split("\n")):
        if len(line) <= _LINE:
            yield line
        else:
            yield from dict.fromkeys(line[at : at + _LINE] for at in range(0, len(line), _LINE - _OVERLAP))
