"""The words by which the rules know a statement: one table of cues per language, joined into one pattern per meaning.

Sessions mix languages, so a text is held against all of them at once. Cues of languages that put spaces between their
words match whole words; those of Chinese and Japanese match anywhere.
"""

from __future__ import annotations

import functools
import re

_SPACED: dict[str, dict[str, str]] = {
    "en": {
        # somebody chose
        "decided": r"(?:we|i|have|['’]ve|was|been|is|it['’]s) (?:decided|agreed|settled|opted|chosen)|decided (?:to"
        r"|on|that|against|with)|we chose|we (?:went|go|are going|will go|['’]re going) (?:with|for)|(?:went|going|go"
        r"|stick|stay|sticking|staying) (?:with|for)|settled on|opted for|opt for|agreed (?:to|on|that)|in favou?r of"
        r"|(?:i|we)(?:['’]ve| have)? (?:chose|picked|kept)(?! \w+ing\b)"
        r"|the choice is",
        # An order: it stands at the beginning of a clause. The same words within a clause only describe.
        "order": r"never(?! mind| again will| saw| been| thought)|always|(?:please )?(?:do not|don['’]?t"
        r"|dont)(?! (?:know|see|have|think|need|want|care|work|exist|get|forget|worry|believe|understand|remember"
        r"|like|mind|arrive|match|really|even|be))|stop (?:using|editing|adding)|only use",
        "rule": r"from now on|must not|must never|must always|may not|has to use|have to use|only ever|at most \d+"
        r"|at least \d+|(?:we|i) (?:don['’]?t|do not|never|always|only) (?:use|want|touch|edit|commit|run|ship|deploy"
        r"|add|mock|merge|push|write|call|import|log|store|skip|delete|expose)|should never|should always",
        "chosen": r"let['’]?s (?:go with|use|stay|stick|keep|drop|move|switch|take|make it|leave|wait|merge|not)"
        r"|go with|it is|we['’]ll (?:keep|use|stay|go|take|leave)|we will (?:keep|use|stay|go|take)|keep|stay with"
        r"|stick with|stick to|switch to|instead|rather|use|exclude|include|remove|drop|move it|prefer",
        "choice_end": r"then|it is|please|entirely|for now",
        "commit": r"i['’]ll|i will|we['’]ll|we will|i['’]m going to|i am going to|we['’]re going|we are going"
        r"|let['’]s|we use|we keep|from now on|switching to|using|i went|we went|there will be",
        # Said like this it is settled, whether or not a reason is given.
        "fixed": r"from now on|(?:stays?|remains?|is kept|left|leave|have left|['’]ve left) (?:\S+ ){0,6}(?:behind"
        r"|off by default|until|as it is|as is)|the only (?:module|place)|off by default|on by default",
        "settled": r"lives? in|only module|only place|we (?:log|keep|use|store|allow|reject|accept)",
        "reason": r"because|since|so that|then (?:nothing|nobody)|(?<=, )as (?:it|they|that|the|we)|due to|reason"
        r"|in order to|which (?:is|would|makes|keeps|needs)|otherwise",
        "proposal": r"i['’]d|i would|i suggest|i['’]d suggest|i propose|i recommend|my recommendation|my suggestion"
        r"|i['’]d recommend|it would be better to|recommended",
        "accept": r"yes|yep|yeah|ok|okay|k|sure|go|go ahead|do it|do that|agreed|fine|good|great|perfect|sounds good"
        r"|makes sense|right|please do|let['’]?s do (?:it|that)|good call|nice|exactly|correct|approved|lgtm"
        r"|works for me|👍",
        "acknowledged": r"understood|ok|okay|all right|alright|right|got it|agreed|noted|sure|will do|makes sense|so"
        r"|then|you['’]re right|done|fine|great|good|very well|switching",
        "taken_back": r"actually|on second thought|scratch that|forget (?:it|that|about)|never mind|nevermind"
        r"|changed my mind|wait|let['’]s drop|drop the|go back to|back to|instead of that|no longer|switching to"
        r"|switch to|undo|revert|changed after",
        "undecided": r"(?:nobody|no one|not|haven['’]t|hasn['’]t|have not|has not|never|isn['’]t|don['’]t|wouldn['’]t"
        r"|would not|can['’]t|to be|yet to be|still to be|before we) (?:\S+ ){0,2}(?:decided?|chosen?|choose|agreed"
        r"|settled)|undecided|open question|to decide|decide whether",
        "hypothetical": r"could|might|may|maybe|perhaps|possibly|would|should we|shall we|if you|if we|if i|options?"
        r"|either(?= .*\bor\b)|alternatively|alternative|consider(?:ed|ing)?|what about|how about|candidate|one way"
        r"|either way"
        r"|ways|approaches|guess",
        "quoted": r"says|said|according to|the (?:docs?|wiki|readme|record|page|comment|manual|spec|adr|article) \S+"
        r"|recommends|states|reads|writes|wrote|their docs?|an? earlier|previously|used to",
        "working": r"look|read|check|start|begin|run|see|search|find|trace|explore|investigate|help|revert|verify|try"
        r"|open|go through|delegate|continue|double-check|update|fix|write a|add a test|examine|now|first|explain"
        r"|sketch|port",
        # something went wrong
        "problem": r"fail(?:s|ed|ing|ure|ures)?|errors?|\w+(?:Error|Exception)|bug|bugs|panics?|panicked|crash(?:es"
        r"|ed|ing)?|hangs?|hung|broken|breaks?|broke|wrong|lost|loses?|losing|slow|leaks?|leaked|missing|timeouts?"
        r"|times? out|timed out|stuck|died|dropp?(?:ed|s)|refuses?|refused|rejects?|rejected|conflicts?|races?"
        r"|duplicates?|twice|blocked|locked|deadlocks?|resets?|flaky|corrupt(?:ed|s)?|disabled|disappears?"
        r"|vanish(?:es|ed)?|stale|overwritten|overwrites?|cannot|can['’]t(?! wait| believe| help| complain)"
        r"|does(?: not|n['’]t) work|do(?: not|n['’]t) (?:arrive|work|match|exist)|kills?|silently|too (?:late|slow"
        r"|long|early|many|much|big|large)|not (?:found|allowed|valid|assignable)|invalid|denied|problems?|issues?"
        r"|fatal|warning|injection|lacks?|exhausted|expire[sd]?|mismatch(?:es)?|regression|surpris\w+|grows"
        r"|complain(?:s|ed|ing)?|returns? nothing|nothing (?:happens|works|comes)|locks? (?:the|all|up)",
        "cause_head": r"(?:the )?(?:root |real |actual |underlying )?(?:cause|reason"
        r"|culprit)(?: of [^:.]{1,60}?)?(?: is(?: that)?| was(?: that)?)?|the (?:\w+ )?(?:problem|issue|bug"
        r"|trouble) (?:is|was|lies in)(?: that)?|that explains (?:it|why)|it turns out(?: that)?|turns out(?: that)?"
        r"|caused by|the reason (?:\S+ ){1,6}\S+",
        "because": r"because|since|as|due to|the reason is",
        "therefore": r"so|which is why|that is why|that['’]s why|this is why|therefore|hence|thus|and so|which means"
        r"|meaning that|with the result that|causing",
        "trap": r"otherwise|or else|keep in mind|beware|be careful|careful|note that|watch out|must never|must not"
        r"|must be|has to be|have to be|needs? to be|don['’]t forget|the hard way|silently|must|gotcha",
        "not_it": r"(?:that['’]?s|that is|it is|it['’]s|this is|this was|it was) not (?:it|the (?:cause|reason"
        r"|problem|issue))|not the (?:cause|culprit|reason)|my (?:first )?guess was|i (?:first )?(?:thought|suspected"
        r"|assumed)|no,? wait|wrong track",
        "aside": r"as expected|separate (?:problem|issue)|unrelated",
        # something is to be done, or is done
        "open": r"still (?:open|there|missing|pending|to do|to be done|fails?|failing|broken|needs?|todo|has to|have to"
        r"|complains|to be)|not done|is (?:left|missing|open|pending)|remains? (?:open|to)|left to do|left to"
        r"|follow-?ups?|(?:next|after that) (?:i['’]d|i would|we (?:should|could|need))|next up|a good next step"
        r"|for later|after that,? (?:comes?|follows?)|not yet|yet to|in a (?:separate|follow-?up|later) (?:pr|change"
        r"|commit|ticket)"
        r"|some(?:one|body) (?:\S+ ){0,5}(?:needs?|has) to|(?:does|do|is|are)(?: not|n['’]t) (?:\S+ ){1,5}yet",
        "deferred": r"tomorrow|next week|later|on monday|monday['’]s?|next release|next sprint|in a separate (?:pr"
        r"|change|commit)|in another (?:pr|change)|separate pr|on the list|for the next|in a follow-?up|another day"
        r"|afterwards|in v\d[\d.]*",
        "finished": r"done|finished|completed?|implemented|fixed|ported|merged|shipped|is in|are in|is gone"
        r"|now (?:uses?|works?|passes|has|takes|builds|sends?|\w+ed|kept|built|sent|in)|uses? (?:\S+ ){1,6}now"
        r"|takes? (?:\S+ ){1,6}instead of"
        r"|works now|resolved|in place|set up|converted|removed|added",
        "unfinished": r"not|n['’]t|will|need|needs|should|would|could|once|until|if|when|left|still|only|open|to be"
        r"|almost|nearly|before",
        "immediate": r"i['’]ll|i will|i['’]m|i am|let me|now|let['’]s",
        "passed": r"pass(?:es|ed|ing)?|green|clean|succeed(?:s|ed)?|success(?:ful(?:ly)?)?|ok|works|no (?:errors"
        r"|issues|failures|warnings|problems)|all good|fine|builds",
        "failed": r"fail(?:s|ed|ing|ure|ures)?|red|broken|errors?|issues? left|flaky"
        r"|does(?: not|n['’]t) (?:pass|build)",
        "did": r"(?:i|we)(?:['’]ve| have)? (?!did not|didn['’]t|have not|had to)(?:\w+ed|ran|made|took|put|left|found"
        r"|wrote|did|set|chose|went)|added|created|updated|removed|replaced|fixed|implemented|refactored|renamed",
        "polite": r"thanks|thank you|you['’]re welcome|let me know|happy to|hope this|glad|sorry|please let|feel free"
        r"|would you like|anything else|great question|good catch|nice catch",
    },
    "de": {
        "decided": r"entschieden|beschlossen|wir haben uns (?:auf|für)|einigten uns|wir einigen uns|festgelegt",
        "order": r"(?:und )?(?:bitte )?(?:nie(?:mals)?(?: wieder)?|immer|nicht)(?: \S+){1,6} (?:ändern|benutzen"
        r"|verwenden|anfassen|einsetzen|löschen|nehmen)",
        "rule": r"bitte (?:nicht|kein\w*)|ab jetzt|ab sofort|darf nicht|dürfen nicht|auf keinen fall"
        r"|nicht mehr (?:benutzen|verwenden|ändern|anfassen)|kein(?:e|en)? \S+ (?:verwenden|benutzen|einsetzen)",
        "chosen": r"nehmen wir|wir nehmen|lieber|stattdessen|bleiben wir|wir bleiben|wir behalten|behalten wir"
        r"|dann eben|dann (?:mach|nimm|nehmen|machen)|nimm|verwende|benutze|lass uns",
        "choice_end": r"bitte",
        "commit": r"ich werde|wir werden|wir nehmen|wir verwenden|wir benutzen|ich nehme|ich verwende|wir machen",
        "settled": r"bleibt|bleiben|ab jetzt",
        "reason": r"weil|denn|damit|da (?:es|sie|er|das|die|der|wir)|sonst|deshalb",
        "proposal": r"ich würde|ich schlage|mein vorschlag|ich empfehle|am besten|vorschlag",
        "accept": r"ja|ok|okay|gut|passt|mach(?:en)? (?:das|wir|so)(?: das| so)?|so machen|einverstanden|genau|klar"
        r"|gerne|stimmt|perfekt",
        "acknowledged": r"gut|verstanden|okay|ok|alles klar|einverstanden|in ordnung|dann|gemacht|erledigt",
        "taken_back": r"doch nicht|doch lieber|zurück zu|moment|vergiss|eigentlich",
        "undecided": r"(?:nicht|noch nicht|niemand hat) (?:\S+ )?(?:entschieden|beschlossen|festgelegt)|offene frage",
        "hypothetical": r"alternativ\w*|könnten?|könnte|vielleicht|würden?|wäre|wären|möglicherweise|entweder"
        r"|eventuell|optionen|man kann",
        "quoted": r"sagt|sagte|laut|zufolge|steht im|schreibt",
        "working": r"ansehen|anschauen|sehe mir|schaue|prüfe|lese|suche|zuerst|erst einmal|starte",
        "problem": r"fehl(?:er|ern|t|en|schlagen|geschlagen)?|schlägt fehl|schlagen fehl|schlug fehl|kaputt|falsch"
        r"|doppelte?n?|hängt|stürzt|absturz|verlieren|verloren|verliert|langsam|überschreibt|problem|fehlt"
        r"|funktioniert nicht|geht nicht|zweimal",
        "cause_head": r"die ursache(?: ist| war|:)?(?:,? dass)?|der grund(?: ist| war|:)?(?:,? dass)?"
        r"|das liegt (?:daran|an)(?:,? dass)?|das problem (?:ist|war)(?:,? dass)?|ursache|grund",
        "because": r"weil|da(?= (?:es|sie|er|das|die|der|wir|ein))|denn|wegen",
        "therefore": r"deshalb|daher|darum|sodass|so dass|weshalb",
        "trap": r"sonst|achtung|vorsicht|aufpassen|müssen|muss|darf nicht",
        "not_it": r"daran liegt es nicht|war es nicht|zuerst dachte ich",
        "aside": r"wie erwartet",
        "open": r"noch offen|offen ist|offen bleibt|fehlt noch|es fehlt|bleibt noch|bleibt zu|als nächstes"
        r"|noch zu tun|steht noch aus",
        "deferred": r"morgen|später|nächste woche|am montag|beim nächsten mal|extra pr",
        "finished": r"erledigt|fertig|umgestellt|behoben|eingebaut|läuft jetzt|ist drin|gemacht",
        "unfinished": r"nicht|noch|muss|müssen|sollte|würde|wenn|sobald|erst",
        "immediate": r"ich werde jetzt|jetzt|ich sehe|ich schaue",
        "passed": r"laufen durch|läuft durch|bestanden|grün|erfolgreich|sauber",
        "failed": r"schlägt fehl|schlagen fehl|fehlgeschlagen|rot",
        "polite": r"danke|gerne|bitte sehr|viel erfolg",
    },
    "es": {
        "decided": r"decidimos|hemos decidido|decidido|acordamos|hemos acordado|optamos por|elegimos",
        "order": r"nunca|jamás|siempre|no (?:uses|usar|toques|tocar|cambies)",
        "rule": r"a partir de ahora|no debe|no se debe|nunca se|hay que usar",
        "chosen": r"vamos a usar|usa|usamos|mejor|en lugar de|nos quedamos con|seguimos con|mantenemos|dejamos",
        "choice_end": r"por favor",
        "commit": r"vamos a|usaremos|voy a usar|usamos|se hace en|la dejamos",
        "settled": r"sigue en|se queda|queda en|se hace en|a partir de ahora",
        "reason": r"porque|ya que|para que|pues|puesto que|debido a|así",
        "proposal": r"propongo|sugiero|recomiendo|yo usaría|lo mejor sería",
        "accept": r"sí|vale|ok|de acuerdo|perfecto|bien|hazlo|adelante|claro",
        "acknowledged": r"de acuerdo|vale|entendido|hecho|bien|perfecto|ok|claro|entonces",
        "taken_back": r"mejor no|en realidad|espera|volvemos a|olvida",
        "undecided": r"no (?:hemos|está|se ha) decidido|por decidir",
        "hypothetical": r"podríamos|podría|quizás?|tal vez|habría|sería|si quieres|opción|opciones",
        "quoted": r"dice|según|dijo",
        "working": r"mirar|leer|revisar|empezar|buscar|ver|comprobar|ejecutar|miro|leo|busco|reviso",
        "problem": r"falla[n]?|fallo|error(?:es)?|(?:cuenta|sale|funciona|va)n? mal|roto|rota|pierde[n]?|lento|lenta"
        r"|duplicad[oa]s?|no funciona|problema|se repite|no llegan?",
        "cause_head": r"la causa(?: es| era)?(?: que)?|el motivo(?: es)?(?: que)?|el problema (?:es|era)(?: que)?"
        r"|se debe a(?: que)?|causa",
        "because": r"porque|ya que|debido a|pues",
        "therefore": r"así que|por eso|por lo que|de modo que|por tanto",
        "trap": r"ojo|cuidado|atención|si no|de lo contrario|hay que|aunque|debe",
        "not_it": r"no es eso|no era eso",
        "aside": r"como era de esperar",
        "open": r"queda pendiente|pendiente|queda por|(?<!hace )(?<!haría )falta|faltan|siguiente paso",
        "deferred": r"mañana|más tarde|luego|el lunes|la próxima semana|en otro pr",
        "finished": r"hecho|listo|terminado|arreglado|ya usa|ya funciona|resuelto",
        "unfinished": r"no|falta|todavía|aún|hay que|debería|cuando|si",
        "immediate": r"voy a|ahora",
        "passed": r"pasan|pasa|en verde|correctas?|sin errores",
        "failed": r"fallan|falla|en rojo|con errores",
        "polite": r"gracias|de nada|por favor dime",
    },
    "fr": {
        "decided": r"on a décidé|nous avons décidé|décidé|on est d['’]accord pour|convenu|on opte pour|choisi",
        "order": r"jamais|toujours|ne (?:pas|jamais|touche|modifie|change)",
        "rule": r"désormais|à partir de maintenant|il ne faut (?:pas|jamais)|ne doit (?:pas|jamais)",
        "chosen": r"on garde|gardons|plutôt|on prend|prenons|on utilise|utilise|on reste|à la place",
        "choice_end": r"s['’]il te plaît",
        "commit": r"on utilise|on va|nous allons|je vais utiliser|on garde|on prend|on passe",
        "settled": r"reste(?:nt)?|désormais",
        "reason": r"parce que|car|afin que|puisque|comme le|pour que|pour éviter|à cause de",
        "proposal": r"je propose|je suggère|je recommande|mieux vaut|je mettrais|le mieux serait",
        "accept": r"oui|ok|d['’]accord|vas-y|parfait|bien|très bien|c['’]est bon",
        "acknowledged": r"d['’]accord|très bien|compris|entendu|ok|bien|parfait|c['’]est noté|alors|donc|fait",
        "taken_back": r"en fait|finalement|attends|revenons|oublie",
        "undecided": r"pas (?:encore )?décidé|à décider",
        "hypothetical": r"pourrait|pourrions|peut-être|serait|si tu|éventuellement|option|options",
        "quoted": r"dit|selon|d['’]après",
        "working": r"lire|regarder|commence par|vérifier|chercher|lancer|je lis|je regarde",
        "problem": r"échoue(?:nt)?|échec|erreurs?|faux|fausse|cassé|perd|perdus?|lent|lente|deux fois|doublons?"
        r"|bloque|plante|problème|ne marche pas|ne fonctionne pas",
        "cause_head": r"la cause(?: est| était)?(?: que)?|l['’]erreur vient d[eu]|le problème (?:est|vient d[eu]"
        r"|était)(?: que)?|cela vient d[eu]|la raison(?: est)?(?: que)?|cause",
        "because": r"parce que|(?<=, )car|puisque|à cause de",
        "therefore": r"donc|si bien que|c['’]est pourquoi|d['’]où|du coup",
        "trap": r"attention|sinon|il faut|gare|ne pas oublier|doit",
        "not_it": r"ce n['’]est pas ça",
        "aside": r"comme prévu",
        "open": r"il reste|prochaine étape|à faire|pas encore|manque",
        "deferred": r"demain|plus tard|lundi|la semaine prochaine|dans une autre pr",
        "finished": r"fait|terminé|corrigé|réglé|en place|fini",
        "unfinished": r"pas|encore|il faut|faudrait|quand|si|reste",
        "immediate": r"je vais|maintenant",
        "passed": r"passe(?:nt)?|au vert|réussi(?:s|e|es)?|sans erreur",
        "failed": r"échoue(?:nt)?|au rouge|en erreur",
        "polite": r"merci|de rien|n['’]hésite",
    },
    "pt": {
        "decided": r"decidimos|ficou decidido|combinamos|optamos por|escolhemos",
        "order": r"nunca|jamais|sempre|não (?:use|usar|mexa|altere|mude)",
        "rule": r"a partir de agora|não deve|não se deve|não pode",
        "chosen": r"vamos (?:usar|com|de)|use|melhor|em vez de|ficamos com|mantemos|deixa",
        "commit": r"vou usar|vamos usar|usaremos|vamos|vou|usamos|fica em",
        "settled": r"continua em|fica em|a partir de agora",
        "reason": r"porque|pois|já que|para que|por causa d[eo]|assim",
        "proposal": r"proponho|sugiro|recomendo|eu usaria|o melhor seria",
        "accept": r"sim|ok|certo|combinado|perfeito|beleza|pode ser|claro|isso",
        "acknowledged": r"certo|combinado|entendido|feito|pronto|perfeito|ok|claro|então|sim",
        "taken_back": r"melhor não|na verdade|espera|voltamos a|esquece",
        "hypothetical": r"poderíamos|poderia|talvez|seria|se você|opção|opções",
        "working": r"olhar|ler|verificar|começar|procurar|ver|rodar|executar",
        "problem": r"falha[m]?|falhou|erros?|quebrad[oa]|quebra|perde[m]?|perdid[oa]s?|lent[oa]|demora\w*"
        "|duplicad[oa]s?"
        r"|não funciona|problema|trava|vazi[oa]",
        "cause_head": r"a causa(?: é| era)?(?: que)?|o motivo(?: é)?(?: que)?|o problema (?:é|era)(?: que)?|causa",
        "because": r"porque|pois|já que|por causa d[eo]",
        "therefore": r"por isso|então|de modo que|portanto|assim",
        "trap": r"cuidado|atenção|senão|é preciso|deve",
        "open": r"(?<!hace )(?<!haría )falta|faltam|ainda não|pendente|próximo passo",
        "deferred": r"amanhã|mais tarde|depois(?! d[eoa])|na segunda|semana que vem|em outro pr",
        "finished": r"feito|pronto|terminado|corrigido|resolvido|já usa|já funciona",
        "unfinished": r"não|falta|ainda|precisa|deveria|quando|se",
        "immediate": r"vou (?:olhar|ver|ler|verificar)|agora",
        "passed": r"passam|passa|passando|passaram|em verde|sem erros",
        "failed": r"falham|falha|com erros",
        "polite": r"obrigad[oa]|de nada|por nada",
    },
}
_UNSPACED: dict[str, str] = {
    "decided": "决定|确定(?=[：:用采为])|最终[选采用]|选择了|选定|することにし|ことにします|ことにする|に決め|決定し"
    "|に変更し|採用し",
    "rule": "不要|不能|必须|禁止|永远不|以后都|一律|ないで|してはいけ|必ず|今後は",
    "chosen": "那就|就用|直接|改用|用.{0,12}吧|にしてください|にしましょう",
    "commit": "我们用|使用|采用|を使うこと|にします|に変更",
    "settled": "保持不变|のまま",
    "reason": "因为|由于|以便|这样|からです|ためです|ので|ため",
    "proposal": "建议|推荐|を提案|をお勧め|が良いと思",
    "accept": "好的?|可以|行|同意|就这样|はい|お願いします|了解|そうして",
    "acknowledged": "好的?|明白|收到|承知しました|了解しました|わかりました|はい",
    "taken_back": "算了|还是改|其实|やっぱり|やめて|戻して",
    "undecided": "还没决定|未决定|尚未决定|未定|決まっていない|まだ決め",
    "hypothetical": "可以考虑|也许|可能会|或者可以|如果要|考えられます|案もあり|かもしれ|できるかも",
    "quoted": "文档说|据说|根据文档|によると|と書いて",
    "working": "先看|看一下|我先|查看|まず|確認します|調べます",
    "problem": "失败|错误|超时|乱码|重复|丢失|崩溃|卡住|问题|慢|异常|断开|失敗|エラー|落ち|遅い|消え|壊れ|重複",
    "cause_head": "原因是|原因在于|问题出在|问题在于|原因は|これが原因|原因：|原因:",
    "because": "因为|由于",
    "therefore": "所以|于是|因此|导致|そのため|したがって|ため、|ので、",
    "trap": "注意|必须先|必须|否则|小心|注意：|必要があります|しないと|さもないと",
    "not_it": "不是这个原因|ではありませんでした",
    "open": "下一步|待办|还没有|尚未|剩下|还需要|次のステップ|残りの作業|残って|未対応|まだ",
    "deferred": "明天|以后再|下周|稍后|明日|来週|後で",
    "finished": "完成了|已完成|搞定|已修复|已经改|完了|対応済み|修正しました",
    "unfinished": "还|未|没|需要|まだ|必要",
    "immediate": "我先|现在我|今から|まず",
    "passed": "通过|成功|通りました|通った|問題なし",
    "failed": "失败|未通过|失敗|通りません",
    "polite": "谢谢|不客气|ありがとう|どういたしまして",
}

MEANINGS = tuple(_SPACED["en"])


@functools.cache
def cue(meaning: str, *, at_start: bool = False, whole: bool = False) -> re.Pattern[str]:
    """The pattern of a meaning: anywhere, at the beginning, or as everything there is."""
    spaced = "|".join(cues[meaning] for cues in _SPACED.values() if meaning in cues)
    unspaced = _UNSPACED.get(meaning)
    pattern = rf"(?<![\w'’-])(?:{spaced})(?![\w-])" + (f"|(?:{unspaced})" if unspaced else "")
    if whole:
        return re.compile(rf"\W*(?:{pattern})\W*", re.I)
    return re.compile(rf"\W{{0,4}}(?:{pattern})" if at_start else pattern, re.I)
