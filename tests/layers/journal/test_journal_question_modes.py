"""Which kind of answer a question wants, in seven languages, and what of it is left to search for."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.layers.journal.layout import QUERY_MODES
from quire.layers.journal.question import query_mode, sought_text, topic_text, without_phrases

REAL = Path(__file__).parents[4] / "shared" / "fixtures" / "journal" / "_vectors" / "query-mode.json"
BETTER = {"下一步": "next", "whats new": "changes", "todos": "next"}
"""Where the other program does not see what is plainly asked."""


@pytest.mark.skipif(not REAL.is_file(), reason="the answers of the other program are not here")
def test_modes_are_those_of_the_other_program() -> None:
    recorded = {item["question"]: item["mode"] for item in json.loads(REAL.read_text(encoding="utf-8"))}
    assert len(recorded) > 30
    assert {question: query_mode(question) for question in recorded} == {**recorded, **BETTER}


ASKED = {
    "next": """
        what's next? | what is left to do | Was sind die nächsten Schritte? | Wie geht es weiter?
        was kommt als nächstes | Quelle est la suite ? | prochaines étapes | que faut-il faire ensuite
        ¿Cuáles son los próximos pasos? | ¿qué falta por hacer? | Quais são os próximos passos? | o que falta fazer?
        下一步做什么 | 接下来呢 | 次のステップは？ | 次は何をする | 残りの作業
    """,
    "traps": """
        caveats | what could go wrong? | known bugs | Welche Stolperfallen gibt es? | bekannte Probleme
        worauf muss ich achten? | Quels sont les pièges ? | problèmes connus | ¿Qué trampas hay?
        cuidado con la caché | armadilhas | o que pode dar errado?
        有什么坑 | 注意事项 | 已知問題 | 落とし穴は？ | 注意点 | 既知の問題
    """,
    "changes": """
        what has changed in auth | latest changes | Was hat sich geändert? | was gibt's Neues | seit gestern
        Qu’est-ce qui a changé ? | quoi de neuf | depuis lundi | ¿Qué ha cambiado? | novedades | cambios desde ayer
        O que mudou? | mudanças recentes | 最近有什么变化 | 改了什么 | 何が変わった？ | 最近の変更
    """,
    "answer": """
        what is Next.js? | what does docs/todo.md say | how to do a release | la suite de tests passe-t-elle ?
        importar desde un archivo | strap | wie funktioniert der Cache | how is the mousetrap built
        缓存怎么工作 | キャッシュとは
    """,
}


@pytest.mark.parametrize("mode", ASKED)
def test_modes_are_known_in_other_languages(mode: str) -> None:
    asked = [question.strip() for line in ASKED[mode].strip().split("\n") for question in line.split(" | ")]
    assert {question: query_mode(question) for question in asked} == dict.fromkeys(asked, mode)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("what changed recently?", ""),
        ("What should we do next", ""),
        ("TODO list", ""),
        ("recently changed files", ""),
        ("known issues with the tide cache", "with the tide cache"),
        ("what changed and what are the traps in billing", "and what are the in billing"),
        ("Was hat sich zuletzt am Zoll geändert?", "Zoll"),
        ("quels sont les pièges du cache ?", "cache"),
        ("缓存有什么坑", "缓存"),
        ("キャッシュの注意点は", "キャッシュ"),
    ],
)
def test_what_only_names_the_kind_of_answer_is_no_search_word(question: str, topic: str) -> None:
    assert " ".join(topic_text(question).replace("?", " ").split()) == topic


@pytest.mark.parametrize(
    ("question", "sought"),
    [
        ("how do I die gracefully", "how do I die gracefully"),
        ("Wie funktioniert der Cache?", "Cache?"),
        ("¿cómo funciona la caché?", "¿ caché?"),
        ("日志保留多久", "日志保留"),
        ("キャッシュのキーはどこですか", "キャッシュ キー"),
    ],
)
def test_questions_lose_what_only_makes_them_questions(question: str, sought: str) -> None:
    assert " ".join(sought_text(question).split()) == sought


@given(st.text(max_size=200) | st.lists(st.sampled_from(["what changed", "since", "é", "下一步", "x"])).map(" ".join))
def test_any_text_has_a_mode_and_loses_nothing_but_phrases(text: str) -> None:
    assert query_mode(text) in QUERY_MODES
    whole, kept = unicodedata.normalize("NFC", text), without_phrases(text)
    assert len(kept) == len(whole)
    assert all(char in (" ", before) for char, before in zip(kept, whole, strict=True))
