"""Find harmful orders in sentences, by small vocabularies of verbs and objects in several languages.

A sentence has an effect where it holds a word of each group: to send, a secret, a place. Latin letters are folded, so
no word has accents. Each order is looked for only where a word of its first group begins like one in the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from quire.guard.patterns import pattern
from quire.guard.shell_commands import Found

_HEAD = 5
"""By so many letters at its beginning a word is known before anything is matched."""
_LONGEST = 600
_WORD = re.compile(r"[a-z0-9]{2,}")
_SENTENCE = re.compile(r"(?<=[^\s.])[.!?;](?=\s)|[。！？；]|\n")


class _Group(msgspec.Struct, frozen=True):
    """A pattern, and of its words the beginnings and the ones in other scripts."""

    pattern: str
    heads: frozenset[str]
    marks: tuple[str, ...]


def _words(stems: str, more: str = "", heads: str = "") -> _Group:
    """A group of words, of which those with a star may go on; `more` is a pattern that needs one of `heads`."""
    parts = [stem if not stem.isascii() else rf"\b{stem.replace('*', chr(92) + 'w*')}\b" for stem in stems.split()]
    known = [*stems.split(), *heads.split()]
    begin = frozenset(stem.strip("*")[:_HEAD] for stem in known if stem.isascii())
    return _Group("|".join((*parts, *([more] if more else ()))), begin, tuple(s for s in known if not s.isascii()))


_FETCH = _words(
    "download fetch grab retrieve pull get lade laden hole herunterlad* descarga descargue* baja obten telecharge* "
    "recupere* scarica* baixe baixa ダウンロード 取得 下载 下載 获取 скача"
)
_THING = (
    r"(?:script|file|binary|installer|program|executable|result|code|skript|datei|programm|archivo|fichero|programa|"
    r"fichier|programme)"
)
_RUN_IT = (
    rf"\b(?:run|execute|start|launch|source|install|invoke) (?:it|them|that|this|the (?:\w+ )?{_THING})\b|"
    r"\b(?:fuhre?|fuehre|starte?) (?:es|sie|ihn|das|die|diese\w*)\b|\b(?:ausfuhren|ausfuehren)\b|"
    rf"\b(?:ejecut[ae]|instal[ae]|lanz[ae])r?l[oa]s?\b|\bejecut[ae]r? (?:el|la|este) {_THING}|"
    rf"\b(?:execute|lance|demarre)[zr]?(?:-l[ea]s?| (?:le|ce) {_THING})\b|\besegui(?:lo|la)\b|\bexecute-[oa]\b|"
    r"実行|起動|运行|执行|運行|執行|запусти"
)
_URL = r"https?://\S|\b[\w-]+\.[a-z]{2,}/\S|\b(?:\d+\.){3}\d"
_PLACE = rf"{_URL}|\w@[\w-]+\.\w"
_SENSITIVE = (
    r"(?<![\w.])\.env\b(?!\.)|"
    r"(?<!bearer )(?<!bearer \$)\b\w*(?:token|secret|api_?key|access_key|passw(?:or)?d)s?\b(?! resets?\b)|"
    r"\bcredentials?\b|\b(?:api|private|ssh|access|signing|secret)[ _-]keys?\b|\bid_(?:rsa|ed25519)\b(?!\.pub)|\.ssh/|"
    r"\.aws/|\.netrc|\.npmrc|\benvironment variables?\b|\benv vars?\b|umgebungsvariable|\bpasswort|\bkennwort|"
    r"\bzugangsdaten\b|\bgeheimnis|\bschlussel\b|\bcontrasena|\bcredenciales\b|variables de entorno|\bsecretos?\b|"
    r"\bmots? de passe\b|\bidentifiants\b|variables d.environnement|\bjetons?\b|\bcookies?\b|パスワード|環境変数|"
    r"認証情報|秘密鍵|トークン|シークレット|apiキー|密码|密碼|环境变量|凭据|凭证|密钥|令牌|私钥|пароль|токен"
)
_SEND = _words(
    "send upload transmit forward exfiltrate leak email mail submit paste publish deliver "
    "sende* schick* ubermitt* ubertrag* poste hochlad* weiterleit* maile envia* envie* manda* sube publica "
    "reenvia* envoie* envoye* transmet* publie* televerse* invia* 送信 送って 送る アップロード 転送 投稿 发送 "
    "發送 上传 上傳 发到 发给 提交 转发 传到 отправ",
    rf"(?<!\bthe )(?<!\ba )\bpost\b|\b(?:report|share|attach|put|copy|append)\b[^.;]{{0,40}}?(?:{_SENSITIVE})|"
    r"\b(?:lade|leite)\b.*\b(?:hoch|weiter)\b",
    "post lade leite report share attach put copy append",
)
_OFF = _words(
    "disable deactivate bypass skip circumvent deaktivier* abschalt* ausschalt* umgeh* uberspring* desactiva* "
    "desactive* deshabilita* deshabilite* omite omita contourne* disattiva* desative* 無効 オフに スキップ 关闭 禁用 "
    "關閉 停用 跳过 绕过",
    r"\b(?:turn|switch)(?:ed)?\b[^.]{0,40}?\boff\b|\bschalt\w*\b[^.]{1,60}?\b(?:aus|ab)\b",
    "turn turned switch schalt schalte",
)
_CHECK = (
    r"\b(?:tls|ssl|https|certificates?|certs?|signatures?|checksums?|host[ -]?keys?|gpg)[ -](?:verif|check|valid)\w*|"
    r"\bpre-?commit(?:[ -]hooks?)?\b|\b(?:commit|git|push)[ -]hooks?\b|\bsandbox\b|\bfirewall\b|\bantivirus\b|"
    r"\bbranch protection\b|\b(?:two-factor|2fa|mfa)\b|zertifikats?\w*(?:pruf|valid|verif)|"
    r"(?:signatur|tls|ssl)-?\w*pruf|"
    r"\b(?:verificacion|validacion|comprobacion)\b.{0,24}(?:certificado|tls|ssl|firma)|\bcortafuegos\b|"
    r"\b(?:verification|validation)\b.{0,24}(?:certificat|tls|ssl|signature)|\bpare-feu\b|"
    r"(?:証明書|署名|tls|ssl)の?\s?(?:検証|チェック)|ファイアウォール|サンドボックス|"
    r"(?:证书|签名|tls|ssl)的?\s?(?:校验|验证|检查)|防火墙|沙箱"
)
_ADD = (
    r"\b(?:add|append|put|write|insert|install|register|create|set up|schedule|copy|paste|fuge?|trage?|schreib\w*|"
    r"hange|richte|erstell\w*|anade\w*|agreg[ae]\w*|escrib[ae]|pon|crea|insert[ae]|ajoute\w*|ecri\w*|insere\w*|cree\w*)\b|"
    r"追加|書き込|設定|登録|添加|加入|写入|创建|注册"
)
_LOGIN = _words(
    "authorized_keys",
    r"\.(?:bash|zsh|ksh)rc\b|\.(?:bash_|z)?profile\b|\bconfig\.fish\b|\.git/hooks\b",
    "authorized bashrc zshrc kshrc profile zprofile bash_profile fish hooks",
)
_TIMED = _words(
    "crontab cronjob cronjobs autostart systemd 定时任务 开机启动 スケジュール",
    r"\bcron[ -]jobs?\b|\blogin items?\b|\bstartup (?:items?|folder|scripts?)\b|\blaunch ?agents?\b|"
    r"\bscheduled tasks?\b|\btareas? programada|\btaches? planifiee",
    "cron login startup launch scheduled tarea tache",
)
_OUTSIDE = r"(?:^|[\s`'\"])(?:/(?:tmp|var|dev|home|root|opt|usr)/|~/)\S|https?://|[a-z]:\\"
_DELETE = _words(
    "delete remove erase wipe destroy purge drop losch* entfern* borra borre* elimina elimine* supprime* efface* "
    "cancella* 削除 消去 删除 刪除 清空"
)
_ALL = (
    r"\b(?:all|every|everything|entire|whole|alles?|samtliche\w*|tod[oa]s?|tous|toutes?|tout)\b|すべて|全て|全部|所有"
)
_VITAL = (
    r"\bhome (?:directory|folder)|\bhard (?:disk|drive)|\bbackups?\b|\bgit history\b|\bproduction (?:data\w*|db)\b|"
    r"\brepositor(?:y|ies)\b|\bhome-?(?:verzeichnis|ordner)|\bfestplatte|\bdirectorio (?:personal|de inicio)|"
    r"\bcarpeta personal|copias de seguridad|\bdisco duro|\b(?:dossier|repertoire) personnel|\bsauvegardes?\b|"
    r"ホームディレクトリ|バックアップ|主目录|家目录|备份|仓库|硬盘"
)
_START = (
    r"\b(?:run|start|launch|use|starte\w*|inici[ae]\w*|arranc[ae]\w*|ejecut[ae]\w*|lance\w*|demarre\w*|avvia)\b|"
    r"起動|実行|启动|运行"
)
_CONTAINER = r"\b(?:containers?|docker|podman|contenedor(?:es)?|conteneurs?)\b|コンテナ|容器"
_FULL = _words("privileged privilegiad* privilegie* privilegiert* 特権 特权")
_PERSON = r"(?:users?|owners?|maintainers?|developers?|admin\w*|operators?|reviewers?|human)"
_PEOPLE = (
    "user owner maintainer developer admin operator reviewer human benutzer nutzer usuario utilisateur ユーザー 用户"
)
_AGREED = _words(
    "",
    rf"\b{_PERSON} (?:has |have )?(?:already |explicitly |pre-?){{1,2}}(?:approved|agreed|authori[sz]ed|consented|"
    rf"confirmed|accepted|allowed|signed)|\b{_PERSON} (?:has |have )?(?:approved|authori[sz]ed|agreed to|signed) "
    r"(?:this|it|all|every\w*|running|you)\b|"
    r"\b(?:be)?nutzer\w* hat .{0,30}(?:bereits|schon) .{0,20}(?:zugestimmt|genehmigt|freigegeben|erlaubt)|"
    r"\busuario ya .{0,20}(?:aprob|acept|autoriz|confirm)|"
    r"\butilisateur a deja .{0,20}(?:approuv|accept|autoris|valid|confirm)|"
    r"ユーザー[はが].{0,12}(?:すでに|既に).{0,8}(?:承認|同意|許可)|用户已经?.{0,6}(?:批准|同意|授权|确认)",
    _PEOPLE,
)
_SAID_NOT = _words(
    "",
    r"\b(?:do not|dont|don't|never|without) (?:\w+ ){0,2}?(?:tell|mention|inform|notify|report|telling|informing)\w*"
    rf"[^.;\n]{{0,40}}?\b(?:the|your) {_PERSON}\b(?! (?:twice|again|about the|which|when|until))|"
    r"\b(?:erwahn|sag|bericht|melde|verrat)\w*\b[^.]{0,30}\bnicht\b[^.]{0,30}nutzer|"
    r"\bno (?:le |se lo )?(?:inform|mencion|dig|cuent|avis)\w*[^.]{0,20}\busuario|"
    r"\bn'?e?n? ?\w{0,3}(?:parl|dis|mentionn|inform)\w* (?:pas|rien)[^.]{0,20}utilisateur|"
    r"ユーザー[にへ]は?[^。]{0,6}(?:報告|伝え|知らせ|言わ|話さ)[^。]{0,3}(?:ない|ず)|"
    r"(?:不要|别|勿)[^。]{0,4}用户[^。]{0,3}(?:提|说|报|透露)",
    _PEOPLE,
)
_PIPE = _words("pipe")
_PUSH = _words("", r"\bforce[ -]push\b", "force")

# An effect, the group by which the order is known, and what else the sentence must hold.
_ORDERS: tuple[tuple[str, _Group, tuple[str, ...]], ...] = (
    ("downloads-and-runs", _FETCH, (_URL, _RUN_IT)),
    ("downloads-and-runs", _PIPE, (_URL, r"\b(?:into|to|through) (?:your |a |the )?(?:\w+ )?(?:shell|bash|sh)\b")),
    ("sends-secret", _SEND, (_SENSITIVE, _PLACE)),
    ("disables-check", _OFF, (_CHECK,)),
    ("persists", _LOGIN, (_ADD,)),
    ("persists", _TIMED, (_ADD, _OUTSIDE)),
    ("destroys", _DELETE, (_ALL, _VITAL)),
    ("destroys", _PUSH, (r"\b(?:over|to|onto) (?:the )?(?:main|master|trunk|production)\b",)),
    ("privileged", _FULL, (_START, _CONTAINER)),
    ("hides", _AGREED, ()),
    ("hides", _SAID_NOT, ()),
)


def order_effects(text: str) -> Iterator[Found]:
    """The effects of what sentences of a folded text order, each with where it stands."""
    at = 0
    for end in (*_SENTENCE.finditer(text), None):
        stop = end.start() if end else len(text)
        for begin in range(at, stop, _LONGEST):
            yield from _ordered(text[begin : min(stop, begin + _LONGEST)], begin)
        at = end.end() if end else stop


def _ordered(sentence: str, start: int) -> Iterator[Found]:
    heads = {word[:_HEAD] for word in _WORD.findall(sentence)}
    foreign = not sentence.isascii()
    for effect, first, others in _ORDERS:
        if first.heads.isdisjoint(heads) and not (foreign and any(mark in sentence for mark in first.marks)):
            continue
        hits = []
        for needed in (first.pattern, *others):
            hit = pattern(needed).search(sentence)
            if not hit:
                break
            hits.append(hit)
        else:
            yield effect, [start + hit.start() for hit in hits], start + max(hit.end() for hit in hits)
