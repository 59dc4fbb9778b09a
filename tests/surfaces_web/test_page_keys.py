"""The page without a mouse, in light and dark, on small windows, for eyes that want rest."""

from __future__ import annotations

import pytest
from page_checks import accessibility_faults, contrast_faults
from page_looking import Look, Looking

FOCUS = "() => document.activeElement?.textContent.trim() || document.activeElement?.getAttribute('aria-label')"
HEAD = "(head) => document.querySelector('main h1')?.textContent === head"


def test_the_first_tab_leads_past_the_screens(looking: Looking) -> None:
    page = looking.open("today")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUS) == "Skip to content"
    box = page.locator(".skip").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"
    assert looking.hash.endswith("/today")
    page.keyboard.press("Tab")
    assert page.evaluate("() => !!document.activeElement.closest('main')")


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("screen", ["today", "map", "records", "inbox", "search", "timeline", "health", "graph"])
def test_tab_goes_through_everything_and_what_has_the_keyboard_is_seen(looking: Looking, screen: str) -> None:
    page = looking.open(screen, **({"q": "holds"} if screen == "search" else {}))
    told = page.evaluate("""async () => {
      const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
      const some = all.filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility());
      return some.length;
    }""")
    seen: list[str] = []
    for _ in range(min(told, 30)):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("""() => {
              const now = document.activeElement;
              if (now === document.body) return "";  // past the last one
              const ringed = [null, "::before", "::after"].some((part) => {
                const style = getComputedStyle(now, part);
                return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
              });
              return ringed ? "" : now.outerHTML.slice(0, 120);
            }""")
        )
    assert [fault for fault in seen if fault] == []


def test_two_letters_lead_to_a_screen_and_the_keyboard_goes_along(looking: Looking) -> None:
    page = looking.open("today")
    for keys, head in (("gm", "Harbour"), ("gg", "Graph"), ("gh", "Health"), ("gp", "Projects")):
        page.keyboard.type(keys)
        looking.until(HEAD, head)
        looking.until("() => document.activeElement.id === 'main'")
        looking.ready()


@pytest.mark.proof
def test_today_and_timeline_have_keys_of_their_own(looking: Looking) -> None:
    """Both begin with a t: each must be reached by the keys that the help names."""
    page = looking.open("map")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    rows = dialog.locator("tr").all()
    names = (row.locator("td").nth(1).inner_text().partition(":")[0] for row in rows)
    told = {name: row.locator("kbd").all_inner_texts() for name, row in zip(names, rows, strict=True)}
    assert told["Today"] != told["Timeline"], "one of them is never reached"
    page.keyboard.press("Escape")
    for name in ("Timeline", "Today"):
        for key in told[name]:
            page.keyboard.press(key)
        looking.until(HEAD, name)


@pytest.mark.proof
def test_the_slash_searches_and_the_question_mark_tells_the_keys(looking: Looking) -> None:
    page = looking.open("map")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    dialog.wait_for()
    assert "Go to a record, a screen, a project" in dialog.inner_text()
    assert "Graph: how records are related" in dialog.inner_text()
    assert contrast_faults(page) == []
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.keyboard.press("/")
    looking.until(HEAD, "Search")
    looking.until("() => document.activeElement.tagName === 'INPUT'")
    page.keyboard.type("gp refunds")
    looking.until("() => location.hash.includes('q=')")
    assert "/search?" in page.url


@pytest.mark.proof
def test_the_palette_leads_to_a_record(looking: Looking) -> None:
    page = looking.open("today")
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Go to")
    dialog.wait_for()
    looking.until("() => document.activeElement.getAttribute('aria-label') === 'Where to'")
    dialog.get_by_role("option").first.wait_for()
    places = dialog.get_by_role("option").all_inner_texts()
    assert len(places) == len(set(places)), places
    page.keyboard.type("only grows")
    dialog.get_by_role("option").filter(has_text="The ledger only grows").wait_for()
    assert accessibility_faults(page) == []
    found = dialog.get_by_role("option").all_inner_texts()
    for _ in range(next(place for place, text in enumerate(found) if "The ledger only grows" in text)):
        page.keyboard.press("ArrowDown")
    dialog.get_by_role("option", selected=True).filter(has_text="The ledger only grows").wait_for()
    page.keyboard.press("Enter")
    looking.until(HEAD, "The ledger only grows")
    assert dialog.count() == 0
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    looking.until("() => !document.querySelector('dialog')")


@pytest.mark.proof
def test_a_list_is_walked_and_opened(looking: Looking) -> None:
    page = looking.open("records", kind="question")
    rows = page.locator("[data-row]")
    rows.first.focus()
    first = page.evaluate("() => document.activeElement.dataset.ref")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    second = page.evaluate("() => document.activeElement.dataset.ref")
    assert (first, second) == (rows.nth(0).get_attribute("data-ref"), rows.nth(1).get_attribute("data-ref"))
    page.keyboard.press("End")
    last = page.evaluate("() => document.activeElement.dataset.ref")
    assert last == rows.last.get_attribute("data-ref")
    page.keyboard.press("Enter")
    looking.until("(ref) => decodeURIComponent(location.hash).endsWith('/record/' + ref)", last)
    looking.ready()
    looking.until("() => document.activeElement.id === 'main'")


@pytest.mark.proof
def test_the_board_is_walked_across(looking: Looking) -> None:
    page = looking.open("map")
    page.locator(".feature [data-row]").first.focus()
    before = page.evaluate(FOCUS)
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOCUS) != before
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(FOCUS) == before


@pytest.mark.proof
def test_the_graph_by_keys(looking: Looking) -> None:
    page = looking.open("graph")
    page.locator(".graph-row[tabindex='0']").focus()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    looking.until("() => document.querySelector('.graph').dataset.selected !== ''")
    page.keyboard.press("Escape")
    looking.until("() => document.querySelector('.graph').dataset.selected === ''")


@pytest.mark.proof
def test_the_range_of_the_timeline_by_keys(looking: Looking) -> None:
    page = looking.open("timeline")
    page.get_by_role("button", name="1 month").click()
    brush = page.get_by_role("slider", name="Range")
    before = brush.get_attribute("aria-valuetext")
    brush.focus()
    page.keyboard.press("ArrowLeft")
    looking.until("(text) => document.querySelector('.brush').getAttribute('aria-valuetext') !== text", before)
    assert "from=" in page.url


# -- light and dark ---------------------------------------------------------------------------

PAPER = "() => getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()"
LIGHT, DARK = "#f8f5ef", "#171513"


@pytest.mark.proof
def test_light_and_dark_as_the_system_has_it_until_somebody_chooses(look: Look) -> None:
    looking = look(color_scheme="dark")
    page = looking.open("map")
    assert page.evaluate(PAPER) == DARK
    page.emulate_media(color_scheme="light")
    assert page.evaluate(PAPER) == LIGHT
    page.keyboard.press("d")
    page.get_by_role("button", name="Theme: light").click()
    page.get_by_role("button", name="Theme: dark").wait_for()
    assert page.evaluate(PAPER) == DARK
    page.reload()
    looking.ready()
    assert page.evaluate(PAPER) == DARK
    assert contrast_faults(page) == []
    page.get_by_role("button", name="Theme: dark").click()
    assert page.evaluate(PAPER) == LIGHT


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("chosen", ["light", "dark"])
def test_what_was_chosen_counts_more_than_the_system(look: Look, chosen: str) -> None:
    other = {"light": "dark", "dark": "light"}[chosen]
    looking = look(color_scheme=other)
    looking.page.evaluate("(chosen) => localStorage.setItem('quire.theme', chosen)", chosen)
    for screen in ("today", "graph"):
        page = looking.open(screen)
        assert page.evaluate(PAPER) == {"light": LIGHT, "dark": DARK}[chosen]
        assert contrast_faults(page) == []


@pytest.mark.proof
def test_nothing_moves_for_whoever_asked_for_rest(look: Look) -> None:
    looking = look(reduced_motion="reduce")
    for screen in ("today", "graph", "timeline", "health"):
        page = looking.open(screen)
        moving = page.evaluate("""() => [...document.querySelectorAll("*")].filter((one) => {
          const style = getComputedStyle(one);
          const ms = (part) => parseFloat(part) * (part.includes("ms") ? 1 : 1000);
          const long = (text) => text.split(",").some((part) => ms(part) > 20);
          return long(style.transitionDuration) || (style.animationName !== "none" && long(style.animationDuration));
        }).map((one) => `${one.tagName}.${one.className}`).slice(0, 5)""")
        assert moving == [], screen
