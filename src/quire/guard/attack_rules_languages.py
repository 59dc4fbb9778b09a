r"""Rules for text that steers a model, in languages other than English.

Languages in Latin letters are looked for like English, in folded text. The others stand in text of which only the
case is folded, and begin with any of their literals, since most of these scripts put no blanks between words.
"""

from __future__ import annotations

from quire.guard.attack_rule import HIDDEN, OVERRIDE, PERSONA, PROMPT, SPACE, AttackRule, gap, phrases

_S = SPACE
_ROMANCE_ORDERS = (
    r"(?:instruccion|instruco|indicacion|indicac|directri|ordenes|ordens|reglas|regras|istruzion|regole|comandi|"
    r"indicazion|ordini|instructions|consignes|regles|directives|ordres)\w{0,6}"
)
_ROMANCE_EARLIER = (
    r"(?:anterior|anterieur|previ|precedent|acima|arriba|dadas|sopra|ricevut|ci-dessus|donnees|recues|initiales)\w{0,4}"
)

LATIN = (
    AttackRule(
        OVERRIDE,
        phrases(
            "ignora, ignore, ignoren, ignorad, olvida, olvide, descarta, omite, ignorem, esqueca, desconsidere, "
            "ignorate, dimentica, dimenticate, ignorez, ignorer, oublie, oubliez, compte"
        ),
        rf"{gap(3)}{_ROMANCE_ORDERS}{gap(2)}{_ROMANCE_EARLIER}",
        "instrucciones instrucoes indicaciones indicacoes directrices ordenes ordens reglas regras istruzioni regole "
        "comandi indicazioni ordini instructions consignes regles directives ordres",
    ),
    AttackRule(
        OVERRIDE,
        ("ignoriere", "ignorieren", "vergiss", "vergessen sie", "missachte", "verwirf", "umgehe"),
        rf"{gap(2)}(?:(?:vorherig|bisherig|fruher|vorangegangen|vorhergehend|obig|vorig|ursprunglich|"
        rf"dein)\w{{0,3}}{gap(1)}|alle{_S})(?:anweisung|instruktion|befehl|regel|vorgabe|prompt|anordnung)\w{{0,3}}",
        "ignoriere ignorieren vergiss vergessen missachte verwirf umgehe",
    ),
    AttackRule(
        OVERRIDE,
        ("negeer", "vergeet"),
        rf"{gap(2)}(?:vorige|eerdere|voorgaande|bovenstaande){_S}(?:instructies|opdrachten|regels|aanwijzingen)",
        "negeer vergeet",
    ),
    AttackRule(
        OVERRIDE,
        ("ignoruj", "zignoruj", "zapomnij", "pomin"),
        rf"{gap(2)}(?:poprzedni|wczesniejsz|powyzsz)\w{{0,3}}{_S}(?:instrukcj|polece|zasad|regul)\w{{0,4}}",
        "ignoruj zignoruj zapomnij pomin",
    ),
    AttackRule(
        OVERRIDE,
        ("onceki", "yukaridaki"),
        rf"{gap(2)}(?:talimat|komut|yonerge)\w{{0,8}}{_S}(?:yok{_S}say|gormezden|unut|dikkate{_S}alma)",
        "onceki yukaridaki",
    ),
    AttackRule(
        HIDDEN,
        phrases(
            "no le digas, no le diga, no digas, no informes, no menciones, no se lo digas, sin avisar, sin preguntar, "
            "sin preguntarle, sin decir, sin decirle, sin informar"
        ),
        rf"(?:{_S}(?:nada|esto|eso|de{_S}esto))?{_S}(?:al|del){_S}usuario",
        "usuario",
    ),
    AttackRule(
        HIDDEN,
        phrases(
            "ne le dis, ne dis, ne le dites, ne dites, ne mentionne, ne mentionnez, ne parle, ne parlez, sans le dire, "
            "sans demander, sans prevenir, sans informer, sans avertir, ninforme, ninformez"
        ),
        rf"{gap(4)}lutilisateur(?!{_S}(?:son|ses|de{_S}choisir))",
        "lutilisateur",
    ),
    AttackRule(
        HIDDEN,
        ("sag", "sage", "sagen sie", "erzahl", "erzahle", "verrate", "verrat", "melde", "berichte"),
        rf"{gap(2)}dem{_S}(?:benutzer|nutzer|anwender){gap(1)}(?:nichts|nicht)(?!\w)",
        "benutzer nutzer anwender",
    ),
    AttackRule(
        HIDDEN,
        ("dem benutzer", "dem nutzer", "dem anwender"),
        rf"{_S}nichts?{gap(1)}(?:sagen|verraten|mitteilen|erzahlen)",
        "benutzer nutzer anwender",
    ),
    AttackRule(
        HIDDEN,
        ("ohne den benutzer", "ohne den nutzer"),
        rf"{gap(1)}zu{_S}(?:fragen|informieren|benachrichtigen)",
        "benutzer nutzer",
    ),
    AttackRule(
        HIDDEN,
        ("nao conte", "nao diga", "nao informe", "nao avise", "nao mencione", "sem avisar", "sem perguntar"),
        rf"{gap(2)}(?:ao|para{_S}o|o){_S}(?:usuario|utilizador)",
        "usuario utilizador",
    ),
    AttackRule(
        HIDDEN,
        ("non dirlo", "non dire", "non menzionare", "non informare", "non rivelare", "senza dirlo", "senza chiedere"),
        rf"{gap(2)}(?:al)?lutente",
        "lutente allutente",
    ),
    AttackRule(HIDDEN, ("vertel de gebruiker", "vertel het de gebruiker"), rf"{_S}niets?(?!\w)", "gebruiker"),
    AttackRule(
        PERSONA,
        phrases(
            "ahora eres, tu es maintenant, tu es desormais, vous etes maintenant, du bist jetzt, du bist nun, "
            "du bist ab sofort, agora voce e, voce agora e, ora sei, dora in poi sei"
        ),
        rf"{_S}(?:un|une|uno|una|um|uma|ein|eine|dan){_S}(?:\w{{1,24}}{_S}){{0,2}}?(?:asist|assist|agent|ia|ki|ai|"
        rf"bot|model)",
        "eres maintenant desormais jetzt nun sofort agora sei",
    ),
    AttackRule(
        PROMPT,
        phrases(
            "muestra, revela, imprime, mostra, revele, mostre, montre, affiche, revelez, affichez, zeig, zeige, gib, "
            "verrate, stampa, rivela"
        ),
        rf"{gap(3)}(?:prompt{_S}(?:del|do|di|de|du|systeme){_S}?\w{{0,8}}|instructions{_S}systeme|system-?prompt)",
        "prompt systeme systemprompt",
    ),
)

_ZH = "[^。！？\n]"
NATIVE = (
    # Russian
    AttackRule(
        OVERRIDE,
        ("игнориру", "проигнориру", "забуд", "не обращай внимания", "отмени"),
        r"\w{0,4}(?:[^\w.!?]{1,4}\w{1,20}){0,3}?[^\w.!?]{1,4}(?:предыдущ|прошл|прежн|вышеуказан|ранее|все)\w{0,6}"
        r"(?:[^\w.!?]{1,4}\w{1,20}){0,2}?[^\w.!?]{1,4}(?:инструкци|указани|команд|правил|приказ|промпт)",
    ),
    AttackRule(
        HIDDEN,
        ("не говори", "не сообща", "не рассказыва", "не упомина", "не показыва", "не спрашива", "без ведома"),
        r"\w{0,6}(?:[^\w.!?]{1,4}\w{1,20}){0,3}?[^\w.!?]{1,4}пользовател",
    ),
    AttackRule(
        PERSONA,
        ("ты теперь", "теперь ты"),
        r"[^\w.!?]{1,4}(?:\w{1,20}[^\w.!?]{1,4}){0,3}(?:ассистент|помощник|бот|модел|агент)",
    ),
    AttackRule(
        PROMPT,
        ("покажи", "выведи", "раскрой"),
        r"(?:[^\w.!?]{1,4}\w{1,20}){0,3}?[^\w.!?]{1,4}системн\w{1,4} (?:промпт|инструкц)",
    ),
    # Chinese
    AttackRule(
        OVERRIDE,
        ("忽略", "无视", "無視", "忘记", "忘掉", "忘記", "不要理会", "不理会", "抛弃"),
        rf"{_ZH}{{0,8}}(?:之前|以上|先前|前面|此前|上面|上述|原来|原有|所有|一切){_ZH}{{0,10}}(?:指令|指示|规则|規則|命令|提示|要求|设定|限制)",
    ),
    AttackRule(
        HIDDEN, ("告诉", "告知", "告訴", "通知"), r"(?<=(?:不要|请勿|切勿|不得|不能)..)(?:任何)?(?:用户|用戶|使用者)"
    ),
    AttackRule(
        HIDDEN, ("别告诉", "瞒着", "不经", "无需询问", "不要询问", "不用询问"), rf"{_ZH}{{0,3}}(?:用户|用戶|使用者)"
    ),
    AttackRule(
        PERSONA,
        ("你现在是", "你現在是", "从现在起你", "从现在开始你", "请扮演"),
        rf"{_ZH}{{0,14}}(?:限制|助手|角色|管理员|模型|黑客)",
    ),
    AttackRule(
        PROMPT,
        ("输出", "显示", "告诉我", "透露", "打印", "泄露", "展示"),
        rf"{_ZH}{{0,8}}(?:系统提示词|系统提示|系统指令|提示词)(?!用户)",
    ),
    # Japanese
    AttackRule(
        OVERRIDE,
        ("指示", "命令", "指令", "ルール", "プロンプト", "制約"),
        rf"(?:を|は|も|など){_ZH}{{0,6}}(?:無視し|無視せ|忘れ|破棄し|上書きし)",
    ),
    AttackRule(
        HIDDEN,
        ("ユーザー", "ユーザ", "利用者", "使用者"),
        rf"に(?:は)?{_ZH}{{0,10}}(?:伝えない|知らせない|言わない|教えない|見せない|報告しない|知られない|内緒|秘密)",
    ),
    AttackRule(
        PERSONA,
        ("あなたは今から", "今からあなたは", "これからあなたは"),
        rf"{_ZH}{{0,20}}(?:です|だ|として|になり|振る舞)",
    ),
    # Korean
    AttackRule(
        OVERRIDE,
        ("이전", "앞의", "위의", "기존", "지금까지"),
        r"[^.!?\n]{0,10}(?:지시|명령|지침|규칙|프롬프트)[^.!?\n]{0,8}(?:무시|잊)",
    ),
    AttackRule(
        HIDDEN,
        ("사용자에게", "유저에게"),
        r"[^.!?\n]{0,10}(?:알리지|말하지|보여주지|언급하지|묻지)[^.!?\n]{0,2}(?:마|말)",
    ),
    # Arabic, Hindi
    AttackRule(OVERRIDE, ("تجاهل", "انس"), r"[^.!؟\n]{0,16}(?:التعليمات|الأوامر|القواعد|الإرشادات|تعليمات)"),
    AttackRule(HIDDEN, ("لا تخبر", "دون علم", "دون إخبار"), r"[^.!؟\n]{0,8}المستخدم"),
    AttackRule(
        OVERRIDE,
        ("पिछले", "पिछली", "पहले", "सभी", "उपरोक्त"),
        r"[^।!?\n]{0,20}(?:निर्देश|आदेश|नियम)[^।!?\n]{0,15}(?:अनदेख|नजरअंदाज|नज़रअंदाज|भूल|उपेक्षा)",
    ),
)
