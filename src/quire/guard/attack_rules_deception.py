r"""Rules for English text that tells a model to hide something, to ignore limits, or that it is addressed."""

from __future__ import annotations

from quire.guard.attack_rule import AGENT, APPROVAL, END, HIDDEN, SPACE, STOP, AttackRule, gap, phrases

_S, _END, _STOP = SPACE, END, STOP
_USER = r"(?:users?|humans?|owner|developer|operator|person|maintainer|reviewer|anyone|anybody)"
_THE_USER = rf"(?:(?:the|your|any|a|our){_S})?{_USER}{_END}"
_AI = (
    r"(?:ais?|llms?|(?:large[ -])?language[ -]models?|(?:ai|coding)[ -](?:agents?|assistants?|models?|systems?)|"
    r"assistants?|agents?|chatbots?|chatgpt|gpt(?:-\d\w{0,4})?|claude|copilot|gemini|codex|bots?|models?)"
)
_READS = (
    r"(?:reads?|reading|recalls?|recalling|process(?:es|ing)?|sees?|seeing|loads?|loading|retrieves?|retrieving|"
    r"pars(?:es?|ing)|summari[sz](?:es?|ing))"
)
_RECORD = r"(?:record|note|memory|file|text|line|message|document|entry|fact|comment|instruction)"
_NOT = ("do not", "dont", "never", "must not", "mustnt", "should not", "avoid", "refrain from")
# After "the user" these lead to an ordinary duty of the product, as in "without asking the user for a password".
_DUTY = rf"(?!{_S}(?:for|to|which|whether|again|what|twice|how|their|where|about{_S}the)\b)"
_USER_WORDS = "user users human humans owner developer operator person maintainer reviewer anyone anybody"
_AI_WORDS = (
    "ai ais llm llms language assistant assistants agent agents chatbot chatbots chatgpt gpt claude copilot gemini "
    "codex bot bots model models"
)

_HIDING = (
    AttackRule(
        HIDDEN,
        _NOT,
        rf"{gap(1)}(?:(?:mention|reveal|disclose|report|show|say|admit|explain|expose|tell|talk{_S}about|refer{_S}to|"
        rf"acknowledge){_S}(?:(?:this|it|that|these|those|them|anything|any|what|your|"
        rf"everything){gap(3)}to{_S}{_THE_USER}|"
        rf"(?:these|those|this|the){_S}(?:\w{{1,20}}{_S})?(?:instructions?|note|directives?){_STOP}|(?:these|this){_S}"
        rf"instructions?{_END})"
        rf"|(?:tell|inform|notify|alert|warn){_S}{_THE_USER}(?:{_S}(?:that{_S}you|(?:about|of){_S}(?:this|it|that|"
        rf"these|your|any)|anything|what{_S}you|why{_S}you|how{_S}you|or|and){_END}|{_STOP})"
        rf"|let{_S}{_THE_USER}{_S}(?:know|notice|find{_S}out|learn|reali[sz]e|suspect){_END}"
        rf"|ask{_S}the{_S}(?:user|human|owner){_END}{_DUTY})",
        f"{_USER_WORDS} instruction instructions note directive directives",
    ),
    AttackRule(
        HIDDEN,
        _NOT,
        rf"{gap(1)}(?:mention|reveal|disclose|admit|acknowledge|report){_S}that{_S}you{_S}(?:read|were|did|have|"
        rf"ran|saw|are){_END}",
        "mention reveal disclose admit acknowledge report",
    ),
    AttackRule(
        HIDDEN,
        ("without",),
        rf"{_S}(?:ever{_S})?(?:(?:asking|telling|informing|notifying|alerting|consulting|warning|"
        rf"involving){_S}{_THE_USER}{_DUTY}|checking{_S}with{_S}{_THE_USER}|"
        rf"asking{_S}(?:for{_S})?(?:any{_S})?(?:permission|approval){_END}|(?:the{_S})?(?:users?|humans?|"
        rf"owners?){_S}(?:knowledge|consent|confirmation|approval|permission|noticing|knowing){_END})",
        f"{_USER_WORDS} permission approval",
    ),
    AttackRule(
        HIDDEN,
        ("hide", "conceal", "keep", "withhold"),
        rf"{_S}(?:this|it|that|these|everything|them|all{_S}of{_S}this)(?:{_S}(?:change|step|action|command|"
        rf"instruction|note|message|fact|commit|edit|information|secret|hidden|away|"
        rf"quiet)){{0,2}}{_S}from{_S}(?:(?:the|your|any){_S})?{_USER}{_END}",
        _USER_WORDS,
    ),
    AttackRule(
        HIDDEN,
        ("user", "users", "human", "owner"),
        rf"{_S}(?:(?:must|should|may|can|does|do|need|will|is){_S}(?:not|never)|cannot|mustnt|shouldnt|doesnt|"
        rf"neednt){_S}(?:ever{_S})?(?:(?:learn|find{_S}out|notice|be{_S}told|be{_S}informed|become{_S}aware|"
        rf"suspect){gap(1)}(?:about|of|that|this|it|you)|(?:(?:need|have){_S}to{_S})?know{_S}(?:about|of){_S}(?:this|"
        rf"it|that|these|what)|see{_S}this{_STOP}){_END}",
        "not never cannot mustnt shouldnt doesnt neednt",
    ),
    AttackRule(
        HIDDEN,
        ("this", "it", "so", "act", "proceed", "task", "everything"),
        rf"{_S}(?:silently|quietly|secretly|covertly|in{_S}secret|stealthily){_END}(?={_S}(?:and|without|so|then|or|"
        rf"but)|{_STOP})",
        "silently quietly secretly covertly secret stealthily",
    ),
    AttackRule(
        HIDDEN,
        ("silently", "secretly", "quietly", "covertly"),
        rf"{_S}(?:cc|bcc|send|forward|upload|e-?mail|post|transmit|exfiltrate|copy{_S}it){_END}",
        "silently secretly quietly covertly",
    ),
    AttackRule(
        HIDDEN,
        ("not have to", "not need to", "no need to"),
        rf"{_S}ask{_S}(?:the{_S}user{_END}{_DUTY}|for{_S}(?:permission|approval){_STOP})",
        "user permission approval",
    ),
    AttackRule(
        HIDDEN,
        ("leave", "omit", "remove", "exclude", "keep"),
        rf"{_S}(?:this|it|that|these|them){_S}(?:out{_S}of|from){_S}(?:your|the){_S}(?:\w{{1,20}}{_S})?(?:summary|"
        rf"answer|response|reply|transcript){_END}(?={_STOP}|{_S}(?:that|you))",
        "summary answer response reply transcript",
    ),
    AttackRule(
        HIDDEN,
        ("pretend",),
        rf"{_S}(?:that{_S})?(?:nothing{_S}happened|you{_S}(?:did|found|saw|know|never)){_END}",
        "pretend",
    ),
    AttackRule(
        HIDDEN,
        ("say that you", "claim that you", "say you", "claim you"),
        rf"{_S}(?:found|did|saw|changed|have{_S}done){_S}(?:nothing|not|no){_END}",
        "nothing not no",
    ),
)

_APPROVALS = (
    AttackRule(
        APPROVAL,
        ("user", "owner", "admin", "administrator", "developer", "operator", "maintainer"),
        rf"{_S}(?:(?:has|have){_S})?(?:already{_S}|pre-?|explicitly{_S}){{0,2}}(?:approved|authori[sz]ed|granted|"
        rf"allowed|permitted|agreed{_S}to|consented{_S}to){_S}(?:all|any|every\w{{0,5}}|full|root|you|unlimited){_END}",
        "approved authorised authorized granted allowed permitted agreed consented preauthorised",
    ),
    AttackRule(
        APPROVAL,
        ("user has already", "owner has already", "maintainer has already", "developer has already"),
        rf"{_S}(?:approved|authori[sz]ed|allowed|permitted|agreed{_S}to){_S}(?:this|it|that|these){gap(3)}"
        rf"(?:do{_S}not|dont|never|without|no{_S}need{_S}to){_S}ask(?:ing)?{_END}",
        "approved authorised authorized allowed permitted agreed",
    ),
    AttackRule(
        APPROVAL,
        ("user has", "user now has", "caller has"),
        rf"{_S}(?:full|unlimited){_S}(?:admin\w{{0,10}}|root|system){_S}(?:rights|access|privileges|permissions){_END}",
        "admin administrator root system",
    ),
    AttackRule(
        APPROVAL,
        ("you have permission to", "you are authorised to", "you are authorized to", "you are allowed to", "you may"),
        rf"{_S}(?:bypass|skip{_S}(?:all|any)|ignore{_S}(?:all|any|your)|run{_S}any\w{{0,5}}|execute{_S}any|"
        rf"do{_S}anything|trust{_S}what{_S}follows){_END}",
        "bypass skip ignore any anything anyone follows",
    ),
    AttackRule(
        APPROVAL,
        ("auto approve", "autoapprove", "always approve", "always allow"),
        rf"{_S}(?:all|every|any){_S}(?:tools?|commands?|actions?|requests?|permission\w{{0,10}}|prompts?){_END}",
        "auto autoapprove approve allow",
    ),
    AttackRule(
        APPROVAL,
        ("answer yes to", "say yes to", "reply yes to"),
        rf"{gap(2)}(?:permission|approval|confirmation){_END}",
        "yes",
    ),
)

_ADDRESSES = (
    AttackRule(
        AGENT,
        phrases("attention, note to, note for, notice to, message to, message for, dear, hey, hello, warning to"),
        rf"{_S}(?:(?:the|any|all|every|my|other|"
        rf"fellow){_S}){{0,2}}{_AI}{_END}(?:{_S}{_AI}{_END})?(?:\s{{0,2}}[:,!.\n–-]|{_S}(?:{_READS}|who|that){_END})",
        _AI_WORDS,
    ),
    AttackRule(
        AGENT,
        ("to any", "to every", "to all", "to the", "any", "every", "all"),
        rf"{_S}(?:{_AI}){_END}{_S}(?:(?:that|who|which|is){_S}){{0,2}}{_READS}{_S}(?:this|these){_END}",
        _AI_WORDS,
    ),
    AttackRule(
        AGENT,
        ("instruction for", "instructions for", "instruction to", "instructions to", "order for", "command for"),
        rf"{_S}(?:(?:the|any|all|every){_S})?{_AI}{_END}(?:{_S}{_AI}{_END})?\s{{0,2}}:",
        _AI_WORDS,
    ),
    AttackRule(
        AGENT,
        ("if you are", "if youre", "as"),
        rf"{_S}(?:an?|the){_S}{_AI}{_END}(?:{_S}{_AI}{_END})?(?:{_S}{_READS}|,?{_S}you{_S}(?:must|are|should|have|"
        rf"need|will)){_END}",
        _AI_WORDS,
    ),
    AttackRule(
        AGENT,
        ("agent", "agents", "assistant", "assistants", "ai", "llm", "llms", "model", "models", "bot"),
        rf"{_S}(?:(?:agents?|assistants?|models?){_S})?(?:(?:that|who|which){_S})?{_READS}{_S}(?:this|"
        rf"these)(?:{_S}{_RECORD})?(?:{_S}(?:must|has|have|should|shall|will|needs?|it|to|first){_END}|\s{{0,2}}[:,])",
        "this these",
    ),
    AttackRule(
        AGENT,
        ("when you", "whenever you", "once you", "if you", "time you"),
        rf"{_S}(?:read|recall|see|load|retrieve|process|receive){_S}this{_S}{_RECORD}{_END}",
        "record note memory file text line message document entry fact comment instruction",
    ),
    AttackRule(
        AGENT,
        (*(f"this {name}" for name in ("instruction", "note", "message", "memory", "text", "rule")), "it", "this"),
        rf"{_S}(?:in|into|to){_S}(?:your|its|their){_S}(?:own{_S})?(?:long-?term{_S})?memory{_END}",
        "memory",
    ),
    AttackRule(
        AGENT,
        ("repeat it", "repeat this", "include this", "include it"),
        rf"{_S}in{_S}(?:every|all|each|any){_S}(?:future{_S})?(?:session|answer|response|conversation|reply)s?{_END}",
        "repeat include",
    ),
)

PEOPLE = (*_HIDING, *_APPROVALS, *_ADDRESSES)
