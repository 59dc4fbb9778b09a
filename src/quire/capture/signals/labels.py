"""What a heading or a label says about what stands below or behind it: `## Next steps`, `Root cause: …`."""

from __future__ import annotations

import functools
import re

DECISION, GOTCHA, CAUSE, NEXT, DONE, PLAN, CHECKED, OTHER = (
    "decision",
    "gotcha",
    "cause",
    "next",
    "done",
    "plan",
    "checked",
    "other",
)

# The first that matches counts. What stands here is the whole label, but for an article or an adjective before it.
_LABELS: dict[str, str] = {
    DECISION: r"decisions?(?: made| taken| so far| log)?|decided|what (?:we|was) (?:agreed(?: on)?|decided)"
    r"|we agreed(?: on)?|agreed|agreements?|design (?:choices|decisions)|technical decisions|choices?|conventions?"
    r"|constraints?|rules|entscheidung(?:en)?|beschlüsse|beschlossen|entschieden|decisi(?:ón|ones)|décisions?|решение"
    r"|решения|决定|決定|决策|决定事项|決定事項|方針",
    CAUSE: r"(?:root |the )?causes?|reason|why(?: it (?:failed|happened|broke))?"
    r"|root cause(?: analysis| found| identified)?"
    r"|the (?:problem|issue)|problem|issue|diagnosis|what (?:went wrong|happened)|ursache|grund|causa|cause|problema"
    r"|problème|原因|问题|問題|根本原因",
    GOTCHA: r"gotchas?(?: and .{1,20})?|traps?|pitfalls?|caveats?|warnings?|important(?: notes?)?|caution|careful"
    r"|watch out|beware|known (?:issues|problems|traps|limitations)|lessons?(?: learned)?|learned|learnings"
    r"|things to (?:know|watch|remember)|errors? and fix(?:es)?|errors?(?: encountered)?(?: and fixes)?"
    r"|problems? (?:solved|encountered)|bugs?(?: found)?|trouble|(?:(?:one|two|some) )?(?:more )?(?:things?"
    r"|points?) to (?:keep in mind|note|watch|remember)|(?:one |a )?thing that (?:surprised|bit) me|what surprised me"
    r"|keep in mind|heads-?up|worth (?:noting|knowing)|fallstricke?"
    r"|achtung|vorsicht|fallen|falle|trampas?|ojo|cuidado|atención|pièges?|attention|ловушк[аи]|陷阱|注意|注意点"
    r"|注意事项|坑|落とし穴"
    r"|警告",
    NEXT: r"next(?: up| steps?| actions?| time)?(?: \(.{1,30}\))?|optional next steps?|suggested next steps?"
    r"|recommended next steps?|to-?\s?do(?:s| list)?|remaining(?: work| tasks| steps| items)?|still (?:open|to do"
    r"|missing|pending|todo)|open(?: items| points| tasks)?|pending(?: tasks| work| items)?|what['’]?s (?:left"
    r"|missing|next|open|still open)|what is (?:left|missing|next|open)|left(?: to do)?|follow-?ups?|for later|later"
    r"|not done(?: yet)?|not (?:yet )?(?:included|implemented|covered)|outstanding|future work|checklist|backlog"
    r"|current plan"
    r"|things to do(?: next)?|what to do next|nächste schritte|als nächstes"
    r"|offen(?:e punkte)?|noch offen|noch zu tun|siguientes? pasos?"
    r"|próximos pasos|(?:queda )?pendientes?|por hacer|prochaines? étapes?|à faire|reste à faire|дальше|下一步|待办"
    r"|待办事项|剩余|后续|次のステップ|次の作業|残りの作業|残作業|今後",
    DONE: r"done(?: so far)?|completed(?: tasks| work)?|finished|what (?:was|is) done|erledigt|hecho|terminé|fait|完成"
    r"|已完成|完了",
    PLAN: r"(?:my |the |implementation )?plan|steps|today(?:['’]s (?:plan|goals))?|tasks?|goals?|plan für heute|heute"
    r"|étapes|pasos|计划|計画",
    CHECKED: r"validat(?:ed|ion)|verif(?:ied|ication)|test(?:ed|s)? results?|tests?|checks?|checked|geprüft|validado"
    r"|vérifié|验证|検証",
}
# Where no label is known word by word: what its words are about. It is short, and tells nothing itself.
_ABOUT: dict[str, str] = {
    GOTCHA: r"catch(?:es)?|caveats?|gotchas?|traps?|pitfalls?|quirks?|heads?[- ]?up|beware|watch out|careful|be aware"
    r"|keep in mind|worth (?:knowing|noting|mentioning|remembering)|surpris\w+|ouch|lessons?|learn(?:ed|t|ings)"
    r"|bit (?:us|me)|hard way|stumbl\w+|tripped|oddit(?:y|ies)|limitations?|zu beachten|beachten|hinweise?|wichtig"
    r"|vorsicht|achtung|gelernt|tener en cuenta|importante|aviso|cuidado|à noter|à savoir|attention|atenção|observação"
    r"|attenzione|nota bene",
    NEXT: r"left(?! off)|leftovers?|remain\w*|open (?:points?|items?|ends?|issues?|tasks?|questions?|work)|next"
    r"|to-?dos?"
    r"|to do|pending|outstanding|later|follow(?:ing)?-?\s?ups?|loose ends?|not (?:yet|covered|done|included|finished"
    r"|started)|unfinished|to finish|after (?:this|that)|future|backlog|still (?:open|to|missing|needs?|needed)"
    r"|(?:not|didn['’]t) get to|missing|before (?:we|this|it|the) .{3,30}|tomorrow|for (?:another|the coming"
    r"|the next) \S+|parked|deferred"
    r"|offen\w*|ausstehend\w*|fehlt|nächste\w*|später|morgen|pendientes?|próxim\w+|falta\w*|queda\w*|siguiente\w*"
    r"|reste\w*|prochain\w*|à faire|plus tard|manque|próxim\w+ passos?|pendências?|faltando|da fare|prossim\w+",
    DECISION: r"decid\w+|decisions?|agreed|agreements?|landed|settled|chosen|direction|conclusions?|outcome"
    r"|going with|entschieden|beschlossen|entscheidung\w*|festgelegt|decisi\w+|acordado"
    r"|acuerdos?|décidé|décisions?|choix|retenu|decidido|escolhas?|deciso",
}
_ABOUT_SIGNS: dict[str, str] = {
    GOTCHA: "注意|留意|小心|坑|経験|落とし穴|気をつけ|要注意",
    NEXT: "待办|后续|下一步|剩下|剩余|遗留|未完成|还要|残り|残って|残作業|今後|次の|未対応|課題",
    DECISION: "决定|决策|结论|方案确定|決定|方針|結論",
}
_ABOUT_WORDS = 6
_TELLS = re.compile(
    r"[.!?;]\s|[。！？；]|\b(?:is|are|was|were) \w|\b(?:i|we|you|it|they)(?:['’]\w+ \w| (?!agreed|decided|landed"
    r"|settled|chose|left|learned)\w)"
    r"|\b(?:file|run|line|test|step \d|page|version|release|chair) *$|\bnext (?:to|run|call|page|line|file|request)\b",
    re.I,
)
_WHAT = re.compile(r"\W*(?:what|where|things|was|qué|lo que|ce qu[ei'’]|o que)\b[^.!?;]*$", re.I)
_BEFORE = (
    r"(?:(?:the|my|our|your|key|main|some|a few|one|another|other|recent|step|\d{1,2}[.)]|[ivx]{1,4}[.)])\s+){0,2}"
)
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_LABEL_CHARS = 48
_INLINE = re.compile(r"([^:：\n]{2,48}?)\s*(?::(?=\s|[^\x00-\x7f]|$)|：)\s*")


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(rf"{_BEFORE}(?:{words})", re.I)) for kind, words in _LABELS.items())


@functools.cache
def _about() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (kind, re.compile(rf"(?<![\w-])(?:{words})(?![\w-])|{_ABOUT_SIGNS[kind]}", re.I))
        for kind, words in _ABOUT.items()
    )


def kind_of_label(text: str) -> str:
    """What a heading or label announces; empty where it announces nothing we know."""
    bare = _EDGES.sub("", text)
    if not 2 <= len(bare) <= _LABEL_CHARS:
        return ""
    known = next((kind for kind, pattern in _patterns() if pattern.fullmatch(bare)), "")
    if known or len(bare.split()) > _ABOUT_WORDS or (_TELLS.search(bare) and not _WHAT.match(bare)):
        return known
    return next((kind for kind, pattern in _about() if pattern.search(bare)), "")


def label_in(text: str) -> tuple[str, str]:
    """The kind that a text begins by naming, and the rest of it: `Next: add metrics`."""
    found = _INLINE.match(text)
    kind = kind_of_label(found[1]) if found else ""
    return (kind, text[found.end() :]) if kind and found else ("", text)
