"""Decide by the words of headings and items what a section is about, and where in the memory it belongs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from quire.capture.hosts.items import TextItem
from quire.layers.facts.layout import SECTIONS
from quire.layers.profile.layout import ASSISTANT, LEARNINGS, RELATIONSHIPS, TOOLS, USER

Place = Literal["decision", "gotcha", "question", "next", "fact", "none"]

ARCHITECTURE, DECISIONS, CONSTRAINTS, ISSUES, PATTERNS = SECTIONS[:5]

# The first that a heading's words match is what its section is about.
_PLACES: tuple[tuple[Place, str], ...] = (
    (
        "none",
        r"^(?:table of )?contents$|^(?:license|credits|acknowledg\w+|authors?|change ?log|release notes|badges)$"
        r"|\brecent (?:changes|work|updates|milestones|progress|activit)|^(?:change|version|session) (?:history|log)"
        r"|^completed (?:tasks?|work|items?)\b|現在の|最近の|当前|近期|현재|최근"
        r"|^current (?:status|state|task|focus|work|session|sprint)|\bwork focus\b|^(?:last )?updated?\b|^status$"
        r"|^(?:further |additional )?(?:links|resources|references|reading)$|^see also$|^memory bank\b|^sprint goals",
    ),
    (
        "next",
        r"\bnext (?:steps?|actions?|tasks?|milestones?|up)\b|^to-?dos?\b|\b(?:open|pending|ongoing|upcoming) tasks?\b"
        r"|^(?:immediate )?priorit|\baction items?\b|^backlog$|^(?:remaining|outstanding) (?:tasks?|work)\b"
        r"|^future (?:enhancements?|improvements?|work|plans?)\b|^road-?map\b|次の|今後の|下一步|后续|다음",
    ),
    ("question", r"\b(?:open|unresolved|outstanding) (?:questions?|points?)\b|^questions?$|未解決の質問|待解决"),
    (
        "gotcha",
        r"\bgotchas?\b|\bpit-?falls?\b|\bcaveats?\b|\bknown (?:\w+ )?(?:issues?|bugs?|problems?|limitations?|quirks?)\b"
        r"|\btrouble-?shooting\b|\bwatch out\b|\bbeware\b|\bquirks?\b|\btraps?\b|\bfoot-?guns?\b|\bland-?mines?\b"
        r"|\bcommon (?:mistakes?|errors?|problems?|issues?|failures?)\b|^(?:warnings?|issues|bugs|cautions?)\b"
        r"|\bthings (?:to know|that bite|to watch)|\bsharp edges\b|\bfailures and how\b"
        r"|既知の|已知|알려진|注意点|注意事项",
    ),
    (
        "decision",
        r"\bdecisions?\b|\badrs?\b|\brationales?\b|\bwhy we\b|\bdesign choices\b|\btrade-?offs\b|\b(?:key|technical)"
        r" choices\b|決定|决策|决定|결정",
    ),
)
_PLACE = tuple((place, re.compile(words, re.I)) for place, words in _PLACES)
# More marked in these words than in those that follow.
_SECTIONS = (
    (
        CONSTRAINTS,
        r"\bconstraints?\b|\brequirements?\b|\bsecurity\b|\bprivacy\b|\bcompliance\b|\bnever\b|\bdo not\b"
        r"|\bdon['’]?ts?\b|\bmust\b|\bforbidden\b|\bboundar|\bnon-negotiable|\bcritical\b|\bimportant\b|\bhard rules\b"
        r"|\blimits?\b|\blimitations?\b|\bcompatibility\b|\bperformance (?:targets?|budgets?)|\bpermissions?\b"
        r"|\bsafety\b|\bscope\b",
    ),
    (
        PATTERNS,
        r"\bconventions?\b|\bstyles?\b|\bpatterns?\b|\bnaming\b|\bformat|\blint|\btest|\bcommits?\b|\bgit\b|\bbranch"
        r"|\bpull requests?\b|\bprs?\b|\breviews?\b|\bworkflows?\b|\bcommands?\b|\bbuild|\brun(?:ning)?\b|\bdevelop"
        r"|\bguidelines?\b|\bpractices?\b|\btyp(?:es?|ing)\b|\berror|\bdocument|\btooling\b|\bsetup\b|\binstall"
        r"|\brules?\b|\bpreferences?\b|\bimports?\b|\blogging\b|\bpackage manager|\breleas|\bscripts?\b|\bdebug"
        r"|\bhow to\b|\bgetting started\b|\bquick ?start|\bprinciples\b|\bverif|\bchecklist|\btask completion",
    ),
    (
        ARCHITECTURE,
        r"\barchitect|\bstructure|\boverview\b|\bstack\b|\btech|\blayout\b|\bdirector|\bcomponents?\b|\bmodules?\b"
        r"|\bdata\b|\bdatabase\b|\bschema|\bapis?\b|\bservices?\b|\bdesign\b|\bsystem\b|\bdomain\b|\bglossary\b"
        r"|\bdependenc|\binfra|\bdeploy|\bproject\b|\babout\b|\benvironments?\b|\bpurpose\b|\bgoals?\b|\bcore\b"
        r"|\bfiles?\b|\bfolders?\b|\bcodebase\b|\brepo|\bpackages?\b|\bintegrations?\b|\bflows?\b|\bconfig"
        r"|\blibrar|\bframeworks?\b",
    ),
)
_SECTION = tuple((section, re.compile(words, re.I)) for section, words in _SECTIONS)
_COMMANDS = re.compile(
    r"\bcommands?\b|\bbuild|\btest|\brun(?:ning)?\b|\bsetup\b|\binstall|\bdevelop|\blint|\bscripts?\b|\bdeploy"
    r"|\bdebug|\bstart|\bcheck|\bformat|\brelease|\bmigrat|\busage\b|\bverif",
    re.I,
)
_CATEGORIES = (
    (ASSISTANT, r"\byour (?:role|name|persona|tone)|\bpersona\b|\bassistant\b|\bidentity\b"),
    (LEARNINGS, r"\blearn|\blessons?\b|\bgotchas?\b|\bpitfalls?\b|\bmistakes?\b|\btips\b|\bquirks?\b|\bmemor"),
    (
        RELATIONSHIPS,
        r"\bcommunicat|\bcollaborat|\bworking (?:with|together|style|agreement)|\bworkflow|\bfeedback\b|\bautonomy\b"
        r"|\bask\b|\binteraction|\brespon|\bpermission|\bprocess\b|\bplanning\b|\btone\b",
    ),
    (
        TOOLS,
        r"\btool|\bcommand|\bpackage manager|\bgit\b|\bcommits?\b|\bshell\b|\benvironment|\beditor\b|\bpython\b"
        r"|\bnode\b|\btypescript\b|\bjavascript\b|\brust\b|\bdocker\b|\bcli\b|\bmachine\b|\btest|\bstack\b|\bmcp\b|\bsetup\b",
    ),
    (USER, r"."),
)
_CATEGORY = tuple((category, re.compile(words, re.I)) for category, words in _CATEGORIES)
_LABELS: dict[str, Place] = {
    **dict.fromkeys(("gotcha", "pitfall", "warning", "caution", "beware", "trap", "danger", "known issue"), "gotcha"),
    **dict.fromkeys(("decision", "decided", "adr"), "decision"),
    **dict.fromkeys(("open question", "question"), "question"),
}
_LABEL = re.compile(
    r"(?:[⚠❗🚨]\ufe0f?[ \t]*)?(?:\*\*|__)?"
    rf"({'|'.join(sorted(_LABELS, key=len, reverse=True))})s?"
    r"(?:[ \t]*[:：](?:\*\*|__)?|(?:\*\*|__)[ \t]*[:：–—-])[ \t]*(?=\S)",
    re.I,
)
_WARNED = re.compile(r"(?:⚠\ufe0f?|🚨)[ \t]*(?=\S)")
# What speaks of the file, or makes up a person for the model: nothing is learnt from it about the project.
_ABOUT_THE_FILE = re.compile(
    r"(?:this (?:file|document|page|rule|memory)|these (?:rules|instructions|guidelines)|the following (?:rules|guide)"
    r"|guidance for|instructions for) [^\n]{0,160}"
    r"\b(?:provides?|gives?|contains?|describes?|outlines?|serves?|is (?:for|read|loaded|used|intended)|guidance"
    r"|guides?|claude|codex|gemini|copilot|cursor|cline|agents?|assistants?)\b"
    r"|you are (?:an? |the |now )|act as (?:an? |the )|your (?:role|task|job) is|i am cline\b|as an ai\b",
    re.I,
)
_EMPTY = re.compile(
    r"(?:n/?a|none(?: yet| known| so far| currently)?|tbd|tba|todo|empty|nothing(?: yet)?|[.…\-_ ]*)\.?", re.I
)
# A link with nothing but its name is looked up, not remembered; a list or a table of such lines neither.
_LINK_ALONE = re.compile(
    r"[|\-* \t]{0,6}(?:see[: ]+)?(?:[^\n|:\[]{1,60}[|:–—-][ *]{0,4})?"
    r"(?:\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)|<?https?://[^\s|>]{1,500}>?)[.,| \t]{0,4}",
    re.I,
)
_LINKS_CHARS = 2_000
_TABLE_HEAD = re.compile(r"\A\|[^\n]*\n")
# What a file says of its own state.
_STATES = frozenset(
    (
        *("author", "authors", "contact", "date", "document version", "documentation", "homepage", "website"),
        *("last modified", "last reviewed", "last updated", "updated", "licence", "license", "status", "version"),
        *("maintained by", "maintainer", "maintainers", "repo", "repository"),
    )
)
_BOLD = re.compile(r"(?:\*\*|__)([^*_\n]{2,40}?)[ \t]*:?(?:\*\*|__)")
_DATED = re.compile(r"(?:last )?(?:updated|modified|reviewed)(?: on)?[: \t][^\n]{0,60}", re.I)
_REMEMBERED = re.compile(r"\badded memories\b", re.I)
# How decisions are to be written down is none.
_ORDER = re.compile(r"(?:always |please )?(?:write|record|document|create|add|update|log|propose|follow)\b", re.I)
_IMPORT_ALONE = re.compile(r"[\w ,:*()'-]{0,60}@[\w./~+-]+\.\w{1,8}[\w ,.:*()'-]{0,60}")
_IMPORTS = re.compile(r"@[\w./~+-]+\.\w{1,8}\b")
_LATER = re.compile(r"(?:remaining|outstanding|future)\b|road-?map\b", re.I)
_WORD = re.compile(r"\w{2,}", re.UNICODE)
_FEW_WORDS = 4
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Subject(Struct, frozen=True):
    """Where a section belongs; the section of the facts where it is one."""

    place: Place
    section: str = PATTERNS


def subject_of(titles: tuple[str, ...], title: str = "", default: str = PATTERNS) -> Subject:
    """What a section is about: its own heading says so, or else the nearest one above it, last the document's title."""
    for name in reversed(titles):
        if place_of(name) != "fact":
            return Subject(place_of(name))
    section = next(filter(None, map(section_of, reversed(titles))), "")
    if not section and place_of(title) not in ("fact", "none"):
        return Subject(place_of(title))
    return Subject("fact", section or section_of(title) or default)


def place_of(title: str) -> Place:
    return next((place for place, words in _PLACE if words.search(title)), "fact")


def section_of(title: str) -> str:
    """The section of the facts that a heading names; empty where it names none."""
    return next((section for section, words in _SECTION if words.search(title)), "")


def category_of(titles: Iterable[str]) -> str:
    """The category of the profile that headings name."""
    text = " ".join(titles)
    return next((category for category, words in _CATEGORY if words.search(text)), USER)


def is_remembered(titles: tuple[str, ...]) -> bool:
    """Whether a section is where a program puts what it was asked to remember, one thing after another."""
    return bool(titles) and _REMEMBERED.search(titles[-1]) is not None


def is_about_commands(titles: tuple[str, ...]) -> bool:
    """Whether code alone says something below these headings: how something is run."""
    return any(_COMMANDS.search(title) for title in titles[-2:])


def labelled(text: str) -> tuple[Place, str]:
    """What an item calls itself, as in `Gotcha: …`, and the rest of it."""
    found = _LABEL.match(text)
    if found:
        return _LABELS[found[1].lower()], text[found.end() :]
    warned = _WARNED.match(text)
    return ("gotcha", text[warned.end() :]) if warned else ("fact", text)


def is_order(text: str) -> bool:
    """Whether a text on decisions only says how to make them."""
    return _ORDER.match(text) is not None and place_of(text[:200]) == "decision"


def is_later(title: str) -> bool:
    """Whether a heading names what is wanted some day, rather than what is done next."""
    return _LATER.match(title) is not None


def is_telling(item: TextItem) -> bool:
    """Whether an item says anything; beside others of its list one word is enough."""
    text = item.text.strip()
    if _IMPORTS.search(text) and len(_WORD.findall(_IMPORTS.sub("", text))) < _FEW_WORDS:
        return False
    is_empty = any(form.fullmatch(text) for form in (_EMPTY, _IMPORT_ALONE, _DATED))
    says_nothing = is_empty or _is_of_its_state(text) or _is_links(text) or _ABOUT_THE_FILE.match(text)
    return bool(text) and not says_nothing


def _is_links(text: str) -> bool:
    if len(text) > _LINKS_CHARS:
        return False
    lines = _TABLE_HEAD.sub("", text, count=1).split("\n")
    return all(_LINK_ALONE.fullmatch(line) for line in lines)


def _is_of_its_state(text: str) -> bool:
    labels = [found[1].casefold() for found in _BOLD.finditer(text)]
    return bool(labels) and _BOLD.match(text) is not None and _STATES.issuperset(labels)


def is_knowledge(item: TextItem) -> bool:
    """Whether an item says anything that is worth a place in a memory by itself."""
    # Scripts without blanks between words say much in few signs.
    text = item.text
    return is_telling(item) and (len(_WORD.findall(text)) >= 2 or len(_WIDE.findall(text)) >= 4)
