"""Every screen of the page in a browser: by its link, after a reload, on the way back; for the eye and for the ear."""

from __future__ import annotations

from typing import Any

import pytest
from page_checks import accessibility_faults, contrast_faults, sideways
from page_looking import Look, Looking
from web_serving import PageDoor

from thorough import some

SCREENS: dict[str, tuple[str, str, dict[str, str], str]] = {
    "projects": ("", "", {}, "Projects"),
    "today": ("today", "", {}, "Today"),
    "map": ("map", "", {}, "Harbour"),
    "records": ("records", "", {}, "Records"),
    "inbox": ("inbox", "", {}, "Inbox"),
    "graph": ("graph", "", {}, "Graph"),
    "search": ("search", "", {"q": "how long does a hold last?", "explain": "1"}, "Search"),
    "timeline": ("timeline", "", {}, "Timeline"),
    "health": ("health", "", {}, "Health"),
    "a changed feature": ("record", "feature.availability", {}, "Availability"),
    "an orphaned gotcha": ("record", "gotcha.numbers-need-a-country-code", {}, "Numbers need a country code"),
    "a superseded decision": ("record", "decision.jobs-run-from-cron", {}, "Jobs run from cron"),
}
"""Each with its place, its choices, and what its head says."""
WORDS = {
    "projects": ("Harbour", "Chandlery", "Lighthouse", "3 projects on this machine", "not available"),
    "today": (
        *("What changed", "Out of date", "Webhook retries", "Open questions", "Do day guests need a hold?"),
        *("Focus and next steps", "Compare beams", "Pins", "the map on small phones is too wide", "Building now"),
    ),
    "map": ("Group bookings", "Season tickets", "Crane bookings", "Tides come from a table", "Webhooks come twice"),
    "records": ("63 records, the newest first", "Harbour", "Holds"),
    "inbox": ("proposals pending, by source", "Rows of berths are searched first", "claude session"),
    "graph": ("63 records, 32 relations", "Availability", "Colour by"),
    "search": ("Holds", "A hold lasts 20 minutes", "What an agent would get", "tokens"),
    "timeline": ("12 Jan 2026 to 12 Jun 2026", "Everything", "Group bookings, first part", "Sessions"),
    "health": ("Anchors", "Coverage", "Receipts", "Files", "src/harbour"),
    "a changed feature": (
        "Out of date: the code has changed",
        "src/harbour/berths/availability.py",
        "Related",
        "Berths",
    ),
    "an orphaned gotcha": ("Out of date: the code is gone.", "No more text messages", "Text messages"),
    "a superseded decision": ("superseded", "One queue in the database"),
}
KINDS = {
    **{kind: kind for kind in ("feature", "decision", "gotcha", "question", "project", "fact")},
    "episode": "session",
    "entry": "preference",
    "bundle": "journal",
    "checkpoint": "journal state",
    "event": "journal session",
}
"""Each with the word that people know it by."""


def shown(looking: Looking) -> str:
    text: str = looking.page.locator("main").inner_text()
    return text


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_by_its_link_after_a_reload_and_on_the_way_back(looking: Looking, name: str) -> None:
    screen, rest, query, head = SCREENS[name]
    page = looking.open(screen, rest, **query)
    assert looking.heading == head
    first = shown(looking)
    for words in WORDS[name]:
        assert words.lower() in first.lower(), (words, first)
    assert "token" not in page.url
    page.reload()
    looking.ready()
    assert (looking.heading, page.url) == (head, looking.url + looking.link(screen, rest, **query))
    assert accessibility_faults(page) == []
    assert contrast_faults(page) == []
    other = "#/" if screen else looking.link("today")
    page.evaluate("(there) => { location.hash = there; }", other)
    looking.until(
        "(head) => document.querySelector('main h1')?.textContent === head", "Projects" if screen else "Today"
    )
    page.go_back()
    looking.until("(head) => document.querySelector('main h1')?.textContent === head", head)
    looking.ready()
    assert shown(looking)[:200] == first[:200]
    page.go_forward()
    looking.until(
        "(head) => document.querySelector('main h1')?.textContent === head", "Projects" if screen else "Today"
    )


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("name", some(list(SCREENS), 7))
def test_a_screen_in_the_dark_and_on_a_phone(look: Look, name: str) -> None:
    screen, rest, query, head = SCREENS[name]
    looking = look(width=360, height=740, color_scheme="dark", has_touch=True, is_mobile=True)
    page = looking.open(screen, rest, **query)
    assert looking.heading == head
    assert sideways(page) == []
    assert contrast_faults(page) == []
    assert accessibility_faults(page) == []
    page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
    assert sideways(page) == []


def test_what_is_known_of_a_fact_is_said_in_the_words_of_its_guide(looking: Looking, page_server: PageDoor) -> None:
    (item, *_) = page_server.get(f"/api/projects/{looking.project}/records?kind=fact&live=1")["items"]
    side = looking.open("record", item["ref"]).get_by_label("About this record").inner_text().lower()
    for words in ("details", "confidence now", "fades as", "times stored"):
        assert words in side, side
    assert "wears" not in side


@pytest.mark.proof
def test_a_record_of_every_kind(looking: Looking, page_server: PageDoor) -> None:
    items = page_server.get(f"/api/projects/{looking.project}/records?limit=200")["items"]
    seen: dict[str, Any] = {}
    for item in items:
        seen.setdefault(item["kind"], item)
    assert set(KINDS) == set(seen)
    for kind, item in seen.items():
        page = looking.open("record", item["ref"])
        assert looking.heading == item["title"], kind
        assert page.locator(".record-marks").inner_text().startswith(KINDS[kind])
        assert page.locator(".record-name").inner_text().startswith(item["ref"])
        assert page.locator("[data-act]").count() == 0
        assert accessibility_faults(page) == [], kind
        assert contrast_faults(page) == [], kind


def test_a_record_that_is_not_there(looking: Looking) -> None:
    looking.expected.append("404")
    looking.open("record", "feature.holds-and-more")
    looking.page.get_by_role("heading", name="There is no such record.").wait_for()
    looking.page.get_by_role("link", name="Search for “holds and more”").click()
    looking.until("() => document.querySelector('main h1')?.textContent === 'Search'")
    looking.ready()
    assert looking.page.get_by_role("link", name="Holds").first.is_visible()


def test_a_place_that_is_not_there(looking: Looking) -> None:
    looking.page.goto(f"{looking.url}#/p/{looking.project}/nowhere")
    looking.page.get_by_text("There is no such page.").wait_for()
    looking.page.get_by_role("main").get_by_role("link", name="All projects").click()
    looking.ready()
    assert looking.heading == "Projects"


CHOICES = {
    "today: new ones": ("today", {}, "Which changes", "new", "how=created"),
    "today: a month": ("today", {}, "Since", "30 days", "since=30d"),
    "records: facts": ("records", {}, "Layer", "facts", "layer=facts"),
    "records: retired": ("records", {}, "In use", "retired", "live=0"),
    "graph: by verdict": ("graph", {}, "Colour by", "verdict", "by=verdict"),
    "graph: live only": ("graph", {}, "Show only these relations", "live only", "live=1"),
    "timeline: a month": ("timeline", {}, "Length of the range", "1 month", "from="),
    "timeline: without commits": ("timeline", {}, "Lanes", "Commits", "lanes="),
    "health: receipts": ("health", {}, "Parts", "Receipts", "part=receipts"),
    "health: this branch": ("health", {}, "Parts", "This branch", "part=review"),
    "health: coverage": ("health", {}, "Parts", "Coverage", "part=coverage"),
    "health: files": ("health", {}, "Parts", "Files", "part=files"),
    "health: anchors": ("health", {}, "Parts", "Anchors", "part=anchors"),
}


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("name", some(list(CHOICES), 7))
def test_a_choice_is_kept_in_the_address(looking: Looking, name: str) -> None:
    screen, query, group, chip, kept = CHOICES[name]
    page = looking.open(screen, **query)
    before = shown(looking)
    button = page.get_by_role("group", name=group, exact=True).get_by_role("button").filter(has_text=chip).first
    pressed = button.get_attribute("aria-pressed")
    button.click()
    looking.until("(kept) => location.hash.includes(kept)", kept)
    looking.ready()
    chosen = page.url
    after = shown(looking)
    assert (after, button.get_attribute("aria-pressed")) != (before, pressed)
    page.goto("about:blank")
    page.goto(chosen)
    looking.ready()
    # Of a long list only what is near the window is made, a little sooner or later.
    assert (page.url, shown(looking)[:300]) == (chosen, after[:300])
    assert button.get_attribute("aria-pressed") != pressed
    assert accessibility_faults(page) == []
    assert contrast_faults(page) == []


def test_sessions_anchors_and_sources_stand_once(looking: Looking) -> None:
    page = looking.open("today", since="7d")
    kinds = page.locator("#changed .kind").all_inner_texts()
    assert (kinds.count("session"), kinds.count("journal session")) == (3, 0)
    said = page.locator(".lede").inner_text()
    assert "2 questions opened, 1 question closed, 6 other new records, 1 changed and" in said
    assert page.locator(".change-closed").inner_text().startswith("closed")
    page = looking.open("record", "feature.availability")
    panel = page.get_by_label("Is it up to date?")
    assert panel.locator("code", has_text="src/harbour/berths/availability.py").count() == 1
    assert "seal" not in shown(looking)
    page = looking.open("record", "decision.jobs-run-from-cron")
    assert page.locator(".past-changes").get_by_role("link", name="One queue in the database").count() == 2
    page = looking.open("inbox")
    assert "4 decisions, 2 gotchas, 3 next steps" in page.get_by_role("heading", name="Sessions").inner_text()
    assert "origin" not in shown(looking)


def test_filters_of_the_records_by_words(looking: Looking) -> None:
    page = looking.open("records", kind="feature")
    assert "14 records match" in shown(looking)
    page.get_by_label("Records with these words").fill("waiting")
    looking.until("() => document.querySelectorAll('[data-row]').length === 1")
    assert "text=waiting" in page.url
    page.reload()
    looking.ready()
    assert page.get_by_label("Records with these words").input_value() == "waiting"
    page.get_by_role("button", name="Clear filters").click()
    looking.until("() => !location.hash.includes('kind=')")


@pytest.mark.proof
def test_what_changed_in_the_code_is_shown_on_asking(looking: Looking) -> None:
    page = looking.open("record", "feature.availability")
    page.get_by_role("button", name="Show what changed in src/harbour/berths/availability.py").click()
    page.get_by_text("low = lowest(day)").wait_for()
    assert "anchor=" in page.url
    page.reload()
    page.get_by_text("low = lowest(day)").wait_for()
    assert accessibility_faults(page) == []
    assert contrast_faults(page) == []


@pytest.mark.proof
def test_a_search_is_explained(looking: Looking) -> None:
    page = looking.open("search")
    field = page.get_by_role("searchbox").first
    field.fill("who pays for a group?")
    looking.until("() => location.hash.includes('q=')")
    page.get_by_role("link", name="Does a group pay one bill or several?").first.wait_for()
    explain = page.get_by_role("button", name="Explain").or_(page.get_by_label("Explain")).first
    explain.click()
    looking.until("() => location.hash.includes('explain=')")
    looking.ready()
    assert page.locator(".explained").first.is_visible()
    assert "tokens" in page.get_by_label("What an agent would get").inner_text()


@pytest.mark.proof
def test_a_record_is_found_in_the_graph_and_a_way_between_two(looking: Looking) -> None:
    page = looking.open("graph")
    graph = page.locator(".graph")
    assert graph.get_attribute("data-nodes") == "63"
    page.get_by_label("Find a record").fill("refunds")
    page.get_by_label("Find a record").press("Enter")
    looking.until("() => document.querySelector('.graph').dataset.selected === 'feature.refunds'")
    assert "at=feature.refunds" in page.url
    page.get_by_role("button", name="Focus here").click()
    looking.until("() => document.querySelector('.graph').dataset.focus === 'feature.refunds'")
    assert int(graph.get_attribute("data-shown") or 0) < 61
    page = looking.open("graph", **{"from": "feature.refunds", "to": "feature.berths"})
    assert graph.get_attribute("data-path-length") == "4"
    assert "Availability" in page.get_by_label("Records", exact=True).inner_text()


def test_the_link_of_a_browser_that_was_started_works_once(look: Look, page_server: PageDoor) -> None:
    looking = look()
    looking.expected += ["401", "404"]
    page = looking.page
    link = f"{looking.url}#ticket={page_server.post('/api/tickets', {}).data['ticket']}"
    for worked in (True, False):
        page.evaluate("() => localStorage.clear()")
        page.goto("about:blank")
        page.goto(link)
        page.get_by_text("Harbour" if worked else "This link has no token, or an old one.").first.wait_for(
            state="attached"
        )
        assert "ticket" not in page.url


def test_without_a_token_nothing_is_shown(look: Look) -> None:
    looking = look()
    looking.expected.append("401")
    for token in ("#token=0123456789abcdef", ""):
        looking.page.evaluate("() => localStorage.clear()")
        looking.page.goto("about:blank")
        looking.page.goto(looking.url + token)
        looking.page.get_by_text("This link has no token, or an old one.").wait_for()
        assert "memory view --open" in shown(looking)
        assert "Harbour" not in shown(looking)
        assert accessibility_faults(looking.page) == []
        assert contrast_faults(looking.page) == []
