"""What may be spent and run is the user's alone: a file in the memory home, and the environment."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from provider_making import Desk

from quire.capture.providers.settings import (
    EndpointSettings,
    ProgramSettings,
    ProviderSettings,
    binary_of,
    ceiling_of,
    read_settings,
    settings_bytes,
    settings_path,
    write_settings,
)
from quire.files.world import World
from quire.model.errors import InputError, InvalidStore, NotReady, StorageFailed, UnsupportedVersion


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def with_env(world: World, **env: str) -> World:
    return msgspec.structs.replace(world, env={**world.env, **env})


def test_without_a_file_nothing_may_be_spent_and_reading_makes_none(desk: Desk) -> None:
    settings = read_settings(desk.world)
    assert settings == ProviderSettings()
    assert (settings.daily_ceiling_usd, ceiling_of(settings, desk.world)) == (0, 0)
    assert (settings.claude.input_per_million_usd, settings.claude.output_per_million_usd) == (15, 75)
    assert settings.openai.key_variable == "OPENAI_API_KEY"
    assert list(desk.home.iterdir()) == []


def test_what_is_written_is_read(desk: Desk) -> None:
    settings = ProviderSettings(
        daily_ceiling_usd=2.5,
        claude=ProgramSettings(binary="/opt/claude", model="haiku", timeout_seconds=60),
        openai=EndpointSettings(base_url="http://localhost:8080/v1", model="m", input_per_million_usd=0),
    )
    write_settings(desk.world, settings)
    assert read_settings(desk.world) == settings
    assert settings_path(desk.world) == str(desk.home / "providers.json")
    assert json.loads((desk.home / "providers.json").read_text()) == {
        "version": 1,
        "dailyCeilingUsd": 2.5,
        "claude": {"binary": "/opt/claude", "model": "haiku", "timeoutSeconds": 60.0},
        "openai": {"baseUrl": "http://localhost:8080/v1", "model": "m", "inputPerMillionUsd": 0.0},
    }
    assert [path.name for path in desk.home.iterdir()] == ["providers.json"]


def test_keys_of_others_stay(desk: Desk) -> None:
    path = desk.home / "providers.json"
    before = {"version": 1, "note": "mine", "codex": {"model": "o", "colour": [1]}, "gemini": {"binary": "g"}}
    path.write_text(json.dumps(before))
    settings = read_settings(desk.world)
    assert settings.codex.model == "o"
    write_settings(desk.world, msgspec.structs.replace(settings, daily_ceiling_usd=1))
    assert json.loads(path.read_text()) == {**before, "dailyCeilingUsd": 1}


def test_a_value_that_was_stored_can_go_back_to_the_usual_one(desk: Desk) -> None:
    write_settings(desk.world, ProviderSettings(daily_ceiling_usd=3, codex=ProgramSettings(model="o")))
    write_settings(desk.world, ProviderSettings())
    assert read_settings(desk.world) == ProviderSettings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "truncated"),
        ("", "truncated"),
        ("[]", "not an object"),
        ('{"dailyCeilingUsd": 5}', "version"),
        ('{"version": "1"}', "version"),
        ('{"version": 1, "dailyCeilingUsd": "5"}', "$.dailyCeilingUsd"),
        ('{"version": 1, "dailyCeilingUsd": -1}', "$.dailyCeilingUsd"),
        ('{"version": 1, "dailyCeilingUsd": 1e999}', "out of range"),
        ('{"version": 1, "claude": {"binary": 7}}', "$.claude.binary"),
        ('{"version": 1, "claude": {"timeoutSeconds": 0}}', "$.claude.timeoutSeconds"),
        ('{"version": 1, "openai": {"keyVariable": "A B"}}', "$.openai.keyVariable"),
        ('{"version": 1, "openai": {"outputPerMillionUsd": -0.1}}', "$.openai.outputPerMillionUsd"),
    ],
)
def test_a_damaged_file_is_told_and_never_overwritten(desk: Desk, text: str, said: str) -> None:
    path = desk.home / "providers.json"
    path.write_text(text)
    with pytest.raises(InvalidStore) as found:
        read_settings(desk.world)
    assert said in found.value.message
    with pytest.raises(InvalidStore):
        write_settings(desk.world, ProviderSettings(daily_ceiling_usd=1))
    assert path.read_text() == text


def test_a_file_of_a_later_version_is_left_alone(desk: Desk) -> None:
    path = desk.home / "providers.json"
    path.write_text('{"version": 2}')
    with pytest.raises(UnsupportedVersion):
        read_settings(desk.world)
    with pytest.raises(UnsupportedVersion):
        write_settings(desk.world, ProviderSettings())
    assert path.read_text() == '{"version": 2}'


def test_a_folder_in_its_place_is_told(desk: Desk) -> None:
    (desk.home / "providers.json").mkdir()
    with pytest.raises(StorageFailed):
        read_settings(desk.world)


def test_a_file_kept_elsewhere_is_read_and_written_through_its_link(desk: Desk) -> None:
    elsewhere = desk.path / "dotfiles.json"
    elsewhere.write_text('{"version": 1, "dailyCeilingUsd": 4}')
    (desk.home / "providers.json").symlink_to(elsewhere)
    assert read_settings(desk.world).daily_ceiling_usd == 4
    write_settings(desk.world, ProviderSettings(daily_ceiling_usd=6))
    assert json.loads(elsewhere.read_text()) == {"version": 1, "dailyCeilingUsd": 6.0}
    assert (desk.home / "providers.json").is_symlink()


def test_settings_that_could_not_be_read_again_are_not_written(desk: Desk) -> None:
    with pytest.raises(InputError):
        settings_bytes(ProviderSettings(daily_ceiling_usd=-1))
    with pytest.raises(InputError):
        write_settings(desk.world, ProviderSettings(daily_ceiling_usd=float("nan")))
    assert not (desk.home / "providers.json").exists()


def test_the_environment_says_the_ceiling(desk: Desk) -> None:
    settings = ProviderSettings(daily_ceiling_usd=2)
    assert ceiling_of(settings, with_env(desk.world, AGENT_MEMORY_SPEND_CEILING="0.75")) == 0.75
    assert ceiling_of(settings, with_env(desk.world, AGENT_MEMORY_SPEND_CEILING="0")) == 0
    assert ceiling_of(settings, with_env(desk.world, AGENT_MEMORY_SPEND_CEILING=" ")) == 2


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "1,5", "unlimited", "1e9"])
def test_a_ceiling_that_is_no_amount_is_refused(desk: Desk, text: str) -> None:
    with pytest.raises(InputError, match="AGENT_MEMORY_SPEND_CEILING"):
        ceiling_of(ProviderSettings(), with_env(desk.world, AGENT_MEMORY_SPEND_CEILING=text))


def test_the_environment_names_the_programs(desk: Desk) -> None:
    settings = ProviderSettings(claude=ProgramSettings(binary="/opt/c"))
    assert binary_of("claude", settings, desk.world) == "/opt/c"
    assert binary_of("codex", settings, desk.world) == "codex"
    world = with_env(desk.world, AGENT_MEMORY_CLAUDE_BIN="/env/c", AGENT_MEMORY_CODEX_BIN="/env/x")
    assert [binary_of(name, settings, world) for name in ("claude", "codex")] == ["/env/c", "/env/x"]


def test_a_memory_home_that_depends_on_the_folder_one_stands_in_says_nothing_of_money(desk: Desk) -> None:
    (desk.root / ".memory").mkdir()
    (desk.root / ".memory" / "providers.json").write_text('{"version": 1, "dailyCeilingUsd": 1000}')
    with pytest.raises(NotReady, match="relative path"):
        read_settings(with_env(desk.world, MEMORY_HOME=".memory"))


def test_without_a_home_there_are_no_settings(desk: Desk) -> None:
    world = msgspec.structs.replace(desk.world, env={})
    assert read_settings(world) == ProviderSettings()
    with pytest.raises(NotReady):
        write_settings(world, ProviderSettings())
