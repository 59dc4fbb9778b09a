"""Recognise values that are no secrets: samples, references to a secret kept elsewhere, plain words.

Randomness is judged by shape, not by a dictionary: each character becomes its class (lower, upper, digit, other),
and a random string changes class far more often than words, identifiers and slugs do.
"""

from quire.guard.patterns import pattern


def words(text: str) -> tuple[str, ...]:
    """Return the words of a list that is long enough to be written as running text."""
    return tuple(text.split())


_SAMPLE_WORDS = words(
    "example placeholder redacted changeme change-me change_me xxxx your dummy fake sample insert replace "
    "**** .... … •••"
)
# Passwords nobody means: what documentation and local set-ups put in their place.
_SAMPLE_PASSWORDS = words(
    "pass passwd password pwd secret token user username admin root guest test testing foo bar baz foobar "
    "default postgres mysql redis mongo minio rabbitmq elastic letmein none null nil undefined empty string "
    "value hidden masked removed filtered mypass mypassword mysecret mytoken apikey "
    "password1 password123 secret123 test123 test1234 admin123 changeit topsecret top-secret"
)
# What such passwords are made of, once digits stand for the letters that they resemble.
_SAMPLE_PARTS = frozenset(
    words(
        "pass passwd password pwd pw passphrase secret secrets token key user username admin administrator root guest "
        "test testing demo example sample foo bar baz default changeme change me this that my our your the super very "
        "strong secure insecure weak dummy fake local dev development staging prod production app api client server "
        "db database postgres postgresql mysql mariadb redis mongo mongodb minio rabbitmq elastic keycloak grafana "
        "some any new old string value hello welcome qwerty letmein"
    )
)
_LONGEST_PART = max(map(len, _SAMPLE_PARTS))
_LEET = str.maketrans("0134579@$", "oieastgas")
# Published in the standards that everybody copies from.
_PUBLISHED = frozenset(
    words(
        "slav32hkkg 2yotnfzfejr1zcsicmwpaa tgzv3jokf0xg5qx2tlkwia mf_9.b5f-4.1jqm splxlobezqqybys6wxsbia "
        "7fjfp0zbr1ktdrbnfvdmiw czzcagrsa3f0mzpnwdfmqmf0m2jw sflkxwrjsmekkf2qt4fwpmejf36pok6yjv_adqssw5c "
        "8xloxbtzp8 sflkxwrjsmekkf2qt4fwpmejf36pok6yjv"
    )
)
# How a value begins that points elsewhere, or that is a digest of the secret.
_ELSEWHERE = words(
    "${ $( $env: {{ {% <% arn: op: vault: env: file: keychain: ref+ secret: "
    "sha1- sha1: sha256- sha256: sha384- sha384: sha512- sha512: md5: $2a$ $2b$ $2y$ $argon2"
)
# Names that contain digits without being random; taken out before a value is judged.
_ALGORITHMS = (
    r"argon2(?:id|i|d)?|sha-?[1-5]\d{0,2}(?:-\d{3})?|base(?:64|32|58)(?:url)?|oauth-?2(?:\.0)?|utf-?8"
    r"|[ex]d?25519|pbkdf2|aes-?\d{3}"
    r"|[hrep]s(?:256|384|512)|rsa-?\d{4}|p-?(?:256|384)|md5|tls-?1\.\d|http/?[23]|k8s|i18n|1password|2fa|s3|ec2|ipv[46]"
)
_CLASSES = {i: "d" if chr(i).isdigit() else "l" if chr(i).islower() else "u" for i in range(128) if chr(i).isalnum()}
_TABLE = str.maketrans({chr(i): _CLASSES.get(i, "-") for i in range(128)})
_JUDGED = 96  # characters looked at; more adds cost and no certainty
_ALGORITHM = f"(?ai)(?<![a-z])(?:{_ALGORITHMS})(?![a-z0-9])"
_SEPARATORS = "[/:#.|@]"
_UUID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_HEX = "[0-9a-f]{6,64}"
_NAME_IN_BRACES = r"\{[A-Za-z_][\w.]*\}|<[A-Za-z_][\w -]*>|%[A-Z_]{3,}%|\$[A-Z_]{3,}"
_DOTTED = r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+"
_CODE = rf"{_DOTTED}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|@?[\w./-]+@[~^]?v?\d[\w.-]*"


def is_sample(value: str) -> bool:
    """Say whether a token body is a stand-in: one or two characters repeated, or a word such as EXAMPLE in it."""
    if len(set(value)) <= 2:
        return True
    lowered = value[:64].lower()  # a stand-in shows early; a long random body may spell anything somewhere
    return lowered in _PUBLISHED or any(word in lowered for word in _SAMPLE_WORDS)


def is_sample_password(value: str) -> bool:
    """Say whether a password is a stand-in rather than one that opens something."""
    bare = value.lower().strip("*_-.<>[](){}$%:!?")
    if bare in _SAMPLE_PASSWORDS or len(set(bare)) <= 1 or is_sample(value):
        return True
    if "password" in bare and not any(char.isdigit() for char in bare):
        return True
    return _is_of_sample_parts(bare.strip("0123456789!#%&+=*_-.@$").translate(_LEET))


def _is_of_sample_parts(text: str) -> bool:
    """Say whether nothing but the words of stand-ins makes it up: `My-S3cretT0ken`."""
    if not 0 < len(text) <= 40:
        return False
    reached = {0}
    for end in range(1, len(text) + 1):
        starts = [start for start in range(max(0, end - _LONGEST_PART), end) if start in reached]
        if any(text[start:end] in _SAMPLE_PARTS or text[start:end] in "-_. " for start in starts):
            reached.add(end)
    return len(text) in reached


def is_path_of_ids(value: str) -> bool:
    """Say whether it is the name of an object in a store: words and ids with slashes or colons between them."""
    pieces = pattern(_SEPARATORS).split(value)
    if len(pieces) < 2 or not any(len(piece) > 2 and piece.isalpha() for piece in pieces):
        return False
    many = "/" in value and len(pieces) > 2
    return all(
        piece.isdigit()
        or bool(pattern(_UUID).fullmatch(piece))
        or is_wordy(piece)
        or (many and bool(pattern(_HEX).fullmatch(piece)))
        for piece in pieces
    )


def is_reference(value: str, *, quoted: bool) -> bool:
    """Say whether the value names the place of a secret (variable, call, path, address) instead of being one."""
    lowered = value.lower()
    if lowered.startswith(_ELSEWHERE) or "://" in value:
        return True
    if value[0] in "<[({" or (value[0] == "%" and value[-1] in "%s"):
        return True
    if value[0] in "$*&@!" and value[1:].replace("_", "").replace(".", "").isalpha():
        return True
    if "environ" in lowered or "getenv" in lowered or "process.env" in lowered or "secrets." in lowered:
        return True
    if quoted:
        return "${" in value or "{{" in value or bool(pattern(_NAME_IN_BRACES).search(value))
    # Unquoted code: a call, an index, an attribute, an address of a person or a package.
    if "(" in value or "[" in value:
        return True
    # A name behind a dot is code; what a machine drew is not.
    tail = value.rpartition(".")[2]
    return bool(pattern(_CODE).fullmatch(value)) and not (len(tail) >= 16 and looks_random(tail, strict=True))


def is_foreign(value: str) -> bool:
    """Say whether the value is written in letters that keys and passwords are not made of, such as CJK."""
    return not value.isascii() and any(char > "\u024f" and char.isalpha() for char in value)


def shape_of(value: str) -> str:
    """Return the class of each character: l, u, d, or - for anything else."""
    shape = value[:_JUDGED].translate(_TABLE)
    return shape if shape.isascii() else "".join(c if c.isascii() else "-" for c in shape)


def digit_turns(shape: str) -> int:
    """Count the places where letters and digits meet."""
    return shape.count("ld") + shape.count("dl") + shape.count("ud") + shape.count("du")


def is_wordy(value: str, *, strict: bool = False) -> bool:
    """Say whether the value is made of words, numbers and short mixed pieces: a slug, a path, an identifier.

    `strict` is for what follows a known prefix, where random text is likely and identifiers are not.
    """
    if any(char.isdigit() for char in value):
        value = pattern(_ALGORITHM).sub("-", value)
    return all(_is_word(piece, strict) for piece in shape_of(value).split("-"))


def _is_word(piece: str, strict: bool) -> bool:
    size, turns = len(piece), digit_turns(piece)
    one_case = "l" not in piece or "u" not in piece
    if turns == 0:
        return one_case or "u" not in piece[1:] or (size < 8 and not strict) or (size >= 8 and _is_camel(piece, strict))
    if size <= 6:
        return turns <= 2 and (one_case or not strict)
    if piece.count("d") > 4:
        return False
    if strict:
        return turns == 1 and one_case  # rotation2024
    return turns <= 2 and size >= 12 and _is_camel(piece, strict)  # getUserV2Profile, parseRfc3339Date


def _is_camel(piece: str, strict: bool) -> bool:
    """Say whether capitals are where writers put them: at the beginning of words, or everywhere."""
    if "l" not in piece:
        return True
    capitals = piece.count("lu") + piece.count("ul") + piece.count("uu")
    return capitals * 20 <= len(piece) * (9 if strict else 11)


def looks_random(value: str, *, strict: bool = False) -> bool:
    """Say whether a token body was drawn by a machine."""
    if is_wordy(value, strict=strict):
        return False
    shape = shape_of(value)
    turns = digit_turns(shape)
    return turns == 0 or (turns + shape.count("lu") + shape.count("ul")) * 7 >= len(shape)


def entropy_above(value: str, limit: float) -> bool:
    """Say whether the Shannon entropy per character is at least `limit` bits."""
    from math import log2

    sample = value[:512]
    size = len(sample)
    shares = [sample.count(char) / size for char in set(sample)]
    return -sum(share * log2(share) for share in shares) >= limit
