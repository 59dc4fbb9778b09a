"""Signs that a sentence explains, restricts, binds or leaves open: weak ones, which count together and by position.

Unlike a cue, no sign decides anything alone. `signs_of` says which families of them a sentence shows, in any of the
languages that we read; who listens adds them up, and asks more where the talk gives less reason to expect something.
"""

from __future__ import annotations

import functools
import re

from quire.capture.signals.cues import cue

CAUSE, CONTRAST, LIMIT, AGAIN, SILENT, DUTY, PROBLEM, NAME, HEDGE, CONDITION, SURPRISE = (
    *("cause", "contrast", "limit", "again", "silent", "duty", "problem", "name", "hedge", "condition", "surprise"),
)

_SPACED: dict[str, str] = {
    CAUSE: r"because|since|due to|hence|therefore|thus|so|which (?:is why|means|makes|leaves|leads|breaks|causes)"
    r"|that (?:makes|is why|means)|comes? from|traces? back|stems? from|boils? down|leads? to|thanks to|caus(?:es|ed"
    r"|ing)"
    r"|weil|denn|deshalb|daher|darum|dadurch|sodass|deswegen|wegen|liegt (?:an|daran)|kommt (?:von|daher)"
    r"|porque|ya que|por eso|así que|por lo que|debido a|de modo que|lo que hace|viene de"
    r"|parce que|car|donc|si bien que|du coup|ce qui|à cause d[eu]|vient d[eu]|d['’]où"
    r"|por isso|então|já que|devido a|de modo que|o que faz|perché|quindi|perciò|poiché|dato che",
    CONTRAST: r"but|while|whereas|although|though|instead(?: of)?|yet|however|rather than|in fact|actually"
    r"|aber|während|obwohl|sondern|statt|jedoch|dagegen|pero|mientras(?: que)?|aunque|en vez de|en lugar de|sino"
    r"|sin embargo|mais|alors que|tandis que|bien que|au lieu d[eu]|cependant|pourtant"
    r"|mas|enquanto|embora|em vez de|porém|ma|mentre|invece|anche se|tuttavia",
    LIMIT: r"not|\w+n['’]t|never|no|none|nothing|nobody|only|without|unless|until|cannot|neither|nor|nowhere|too|lacks?"
    r"|missing|absent|at most|no longer|except|dropped|lost|stops?|refuses?|rejects?|ignores?|skips?|hides?|outside"
    r"|nicht|nie(?:mals)?|kein\w*|nur|ohne|nichts|niemand|fehlt|fehlen|erst|höchstens|zu (?:groß|klein|kurz|lang|früh"
    r"|spät)|no|nunca|ningun\w*|solo|sólo|sin|nada|nadie|falta|tampoco|demasiad\w+"
    r"|ne|n['’]\w+|pas|jamais|seulement|sans|rien|aucun\w*|personne|trop|manque"
    r"|não|só|apenas|sem|ninguém|nenhum\w*|falta|non|mai|senza|niente|nessun\w*|manca",
    AGAIN: r"still|already|again|always|every|each|twice|both|same|by default|all the same|anyway|even|keeps?|all"
    r"|once|any|after|before|immer|jede\w*|zweimal|schon|beide\w*|noch|weiterhin|selbst|gleich\w*"
    r"|sigue\w*|siempre|cada|ambos|todav[ií]a|aún|toujours|encore|chaque|déjà|deux fois|même|tou(?:t|s|tes?)"
    r"|ainda|sempre|já|ambos|mesm[oa]|ancora|ogni|già|stess[oa]",
    SILENT: r"silent(?:ly)?|quietly|(?:no|without)(?: an?| any)? (?:error|warning|message|notice|trace|complaint)s?"
    r"|without (?:a word|telling|complaining|saying)|unnoticed|(?:exits?|returns?)(?: with)? 0|swallow(?:s|ed)"
    r"|nobody notices|goes unseen|stillschweigend|ohne (?:eine )?(?:fehler\w*|warnung|meldung)|unbemerkt"
    r"|en silencio|sin (?:avisar|error|aviso|ningún)|silencieusement|sans (?:erreur|prévenir|avertissement|message)"
    r"|silenciosamente|sem (?:erro|aviso|avisar)|senza (?:errori|avvisi)",
    DUTY: r"must|ha(?:s|ve) to|had to|needs?(?: to)?|requires?|required|expects?|insists?|depends? on|works? only"
    r"|muss|müssen|braucht|benötigt|verlangt|erwartet|debe[n]?|hay que|tiene[n]? que|necesita[n]?|exige|requiere"
    r"|doi(?:t|vent)|il faut|exige|nécessite|a besoin|attend|deve[m]?|precisa[m]?|é preciso|tem que|bisogna|richiede",
    HEDGE: r"could|might|maybe|perhaps|probably|possibly|presumably|either(?= .*\bor\b)|i (?:guess|suspect|think"
    r"|assume|believe)"
    r"|my (?:guess|hunch)|seems?|i['’]m not sure|not sure|let['’]s see|vielleicht|könnten?|wahrscheinlich|vermutlich"
    r"|scheint|entweder|quizás?|podr[ií]a\w*|probablemente|parece|tal vez|creo"
    r"|peut-être|pourrai\w+|sans doute|probablement|semble|talvez|poderia\w*|provavelmente|acho|forse|potrebbe",
    CONDITION: r"unless|until|otherwise|or else|without|if|when(?:ever)?|once|as (?:soon|long) as|before|after|during"
    r"|while|from version|as of|since version|under|sonst|sobald|solange|wenn|bevor|nachdem|ohne|bis"
    r"|si no|de lo contrario|cuando|mientras|hasta|antes|sin|si|sinon|quand|lorsque|tant que|avant|après|sans|dès"
    r"|senão|caso contrário|quando|enquanto|até|sem|se|altrimenti",
    SURPRISE: r"catch|caveats?|gotchas?|traps?|pitfalls?|quirks?|heads?[- ]?up|beware|watch out|careful|mind (?:that"
    r"|the|you)"
    r"|be aware|keep in mind|worth (?:knowing|noting|mentioning|remembering)|note that|remember that|don['’]t forget"
    r"|the hard way|bit(?:es?|ten)? (?:us|me|you)|surpris\w+|unexpected(?:ly)?|oddly|counter-?intuitive\w*|contrary to"
    r"|despite|even though|turns? out|it turned out|culprit|root cause|zu beachten|achtung|vorsicht|aufgepasst|haken"
    r"|überraschend\w*|wichtig|ojo|cuidado|atención|resulta que|tener en cuenta|attention|à noter|gare|piège|en réalité"
    r"|cuidado|atenção|vale notar|acontece que|attenzione",
}
_UNSPACED: dict[str, str] = {
    CAUSE: "因为|所以|导致|由于|因此|于是|造成|ため|ので|から|せいで|その結果",
    CONTRAST: "但|却|而(?!且)|不过|反而|其实|のに|ものの|しかし|一方|ですが|ますが|ただし|実際",
    LIMIT: "没|不|未|无|只|仅|缺|ない|ません|なし|だけ|しか|のみ|欠け",
    AGAIN: "都|每|总|仍|还|已经|一起|两|毎|まだ|常に|二重|両方|すべて|必ず|ままで|同じ",
    SILENT: "静默|没有报错|不会报错|不报错|悄悄|黙って|エラーも出|エラーなし|気づか",
    DUTY: "必须|需要|得先|要先|要求|必要|なければ|べき",
    HEDGE: "也许|可能是|大概|或许|かもしれ|おそらく|多分|でしょうか",
    CONDITION: "否则|除非|如果|一旦|之前|之后|时(?!间)|しないと|場合|とき|すると|まで",
    SURPRISE: "注意|小心|留意|坑|原来|其实|罪魁|気をつけ|落とし穴|実は|意外",
}
_NAME = re.compile(
    r"`|\b\w+\(\)|\b[a-z]\w*[A-Z]\w*|\b\w+_\w+|(?<!^)\b[A-Z][A-Z0-9]{1,}\b|(?<![\w.])\d|(?<=[^\x00-\x7f])\d"
    r"|\b[\w-]+[./][\w./-]+\w|--\w+"
    r"|(?<=[^.!?:] )[A-Z][a-z]+"
)


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (
            family,
            re.compile(
                rf"(?<![\w'’-])(?:{words})(?![\w-])" + (f"|{_UNSPACED[family]}" if family in _UNSPACED else ""), re.I
            ),
        )
        for family, words in _SPACED.items()
    )


@functools.lru_cache(maxsize=2_048)
def signs_of(text: str) -> frozenset[str]:
    """The families of signs that a sentence shows."""
    found = {family for family, pattern in _patterns() if pattern.search(text)}
    if cue("problem").search(text):
        found.add(PROBLEM)
    if _NAME.search(text):
        found.add(NAME)
    return frozenset(found)
