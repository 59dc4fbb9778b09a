"""Whatever a record says stays text: every screen, live and exported, over a memory in which everything is hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hostile_store import ELSEWHERE, MARK, hostile, hostile_store, short_hostile
from playwright.sync_api import Browser, Page
from web_serving import PageDoor, harbor, opened, saved_nodes

from installed import Memory
from promised import proves
from thorough import either, some

READY = """() => !!document.querySelector("main h1")
    && !document.querySelector(".loading, [aria-busy=true], .project-wait, .graph[data-settled=false]")"""
UNFOLD = """() => {
  const shut = [...document.querySelectorAll("main details:not([open]) > summary, main [aria-expanded=false]")];
  for (const one of shut) one.click();
  return shut.length;
}"""
FAULTS = """(ours) => {
  const faults = [];
  const told = (what, one) => faults.push(`${what}: ${one.outerHTML.slice(0, 160)}`);
  if (window.pwned !== undefined) faults.push(`it ran: ${window.pwned}`);
  for (const name of ["pwned", "polluted", "value", "ref"]) {
    if (Object.prototype[name] !== undefined) faults.push(`every object has ${name}`);
  }
  const never = "img, iframe, frame, object, embed, base, style, image, audio, video, source, portal, template, applet,"
    + "foreignObject, animate, set, use[href^=http], math, marquee, meta[http-equiv=refresh], [srcdoc], [formaction]";
  for (const one of document.querySelectorAll(never)) told("never made", one);
  for (const one of document.querySelectorAll("script")) {
    const known = ours.some((name) => new RegExp(name).test(one.getAttribute("src") ?? ""));
    if (!known || one.textContent) told("script", one);
  }
  for (const one of document.querySelectorAll("link")) {
    if (!["icon.svg", "style.css"].includes(one.getAttribute("href"))) told("link", one);
  }
  for (const one of document.querySelectorAll("form[action]")) told("form", one);
  for (const one of document.querySelectorAll("*")) {
    for (const { name, value } of one.attributes) {
      if (name.startsWith("on")) told("handler", one);
      if (name === "style" && /url|expression|import/i.test(value)) told("style", one);
      if (["src", "data", "poster", "ping", "background"].includes(name) && one.tagName !== "SCRIPT") told(name, one);
      const leads = ["href", "xlink:href"].includes(name);
      if (leads && !/^(#|https?:|mailto:|icon.svg$|style.css$)/i.test(value)) told(name, one);
    }
    if (one.shadowRoot) told("hidden tree", one);
  }
  const links = [...document.querySelectorAll("a[href]")].filter((one) => !one.getAttribute("href").startsWith("#"));
  for (const one of links) {
    if (!["http:", "https:", "mailto:"].includes(one.protocol)) told("protocol", one);
    if (!one.relList.contains("noopener") || !one.relList.contains("noreferrer")) told("rel", one);
    if (!one.closest(".prose")) told("a link out that is not in a text", one);
  }
  return faults;
}"""


class Watch:
    """A page with ears for everything that must never happen."""

    def __init__(self, browser: Browser, folder: str, first: str = "", *, scripts: list[str]) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, timezone_id="UTC")
        self.folder = folder
        """Whatever is asked for lies below it."""
        self.home = folder + first
        self.scripts = scripts
        self.may_be_refused = False
        """Of a place that is not there the browser itself says that it was not found."""
        self.wrong: list[str] = []
        self.requests = 0
        self.context.on("request", lambda request: self._asked(request.url))
        self.page: Page = self.context.new_page()
        self.context.on("page", lambda page: self.wrong.append(f"a window was opened: {page.url}"))
        self.page.set_default_timeout(20_000)
        self.page.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.wrong.append(f"page error: {error}"))
        self.page.on("console", lambda said: said.type in ("error", "warning") and self._said(said.text))
        self.page.on("download", lambda found: self.wrong.append(f"download: {found.url}"))
        self.page.on("worker", lambda worker: self._asked(worker.url))

    def _said(self, text: str) -> None:
        if not (self.may_be_refused and "the server responded with a status of 4" in text):
            self.wrong.append(text)

    def _asked(self, url: str) -> None:
        self.requests += 1
        if not url.startswith((self.folder, "about:blank")):
            self.wrong.append(f"asked elsewhere: {url[:200]}")

    def open(self, place: str) -> str:
        """Go to a place within the page; what is written there once all of it is shown and unfolded."""
        self.page.goto(self.home + place)
        self.page.wait_for_function(READY)
        for _ in range(3):
            if not self.page.evaluate(UNFOLD):
                break
            self.page.wait_for_function(READY)
        self.check(place)
        return self.page.locator("body").inner_text()

    def check(self, place: str) -> None:
        assert self.page.evaluate(FAULTS, self.scripts) == [], place
        assert self.wrong == [], place
        assert self.page.url.startswith(self.home), place


@pytest.fixture(scope="module")
def store(place: Path) -> Memory:
    return hostile_store(place)


@pytest.fixture(scope="module")
def door(store: Memory) -> Iterator[PageDoor]:
    with opened(store) as door:
        yield door


@pytest.fixture(scope="module")
def at(door: PageDoor) -> str:
    return f"/api/projects/{door.get('/api/session')['project']}"


@pytest.fixture(scope="module")
def watch(browser: Browser, door: PageDoor) -> Iterator[Watch]:
    watch = Watch(browser, f"{door.base}/", scripts=["^app\\.js$"])
    watch.page.goto(f"{door.url}")
    watch.page.wait_for_function(READY)
    yield watch
    watch.context.close()


@pytest.fixture(scope="module", params=["shared", "private"])
def exported(request: pytest.FixtureRequest, browser: Browser, store: Memory, place: Path) -> Iterator[Watch]:
    site = place / f"site-{request.param}"
    arguments = ["--private"] if request.param == "private" else []
    done = store("view", "--export", str(site), *arguments)
    assert done.code == 0, done.err
    watch = Watch(browser, f"file://{site}/", "index.html", scripts=["^app\\.js$", "^data/[a-z0-9-]+\\.js$"])
    yield watch
    watch.context.close()


@pytest.fixture(scope="module")
def stray(browser: Browser, door: PageDoor) -> Iterator[Watch]:
    """Somebody who follows links that lead nowhere."""
    watch = Watch(browser, f"{door.base}/", scripts=["^app\\.js$"])
    watch.may_be_refused = True
    watch.page.goto(door.url)
    watch.page.wait_for_function(READY)
    yield watch
    watch.context.close()


@proves("P10.3", "H3")
def test_what_must_not_be_there_would_be_seen(browser: Browser, door: PageDoor) -> None:
    watch = Watch(browser, f"{door.base}/", scripts=["^app\\.js$"])
    watch.page.goto("about:blank")
    for made in (
        "document.body.append(document.createElement('img'))",
        "document.body.setAttribute('onclick', 'x')",
        "document.body.append(Object.assign(document.createElement('a'), {href: 'javascript:x'}))",
        "document.body.append(Object.assign(document.createElement('a'), {href: 'https://evil.example'}))",
        "document.body.append(document.createElementNS('http://www.w3.org/2000/svg', 'animate'))",
        "window.pwned = 1",
    ):
        before = len(watch.page.evaluate(FAULTS, []))
        watch.page.evaluate(f"() => {{ {made} }}")
        assert len(watch.page.evaluate(FAULTS, [])) > before, made
    watch.page.evaluate("() => fetch('http://127.0.0.1:1/').catch(() => {})")
    assert watch.wrong, "a request elsewhere is heard, and what the browser says of it"
    watch.context.close()


SCREENS = ("today", "map", "graph", "search?q=queue", "search?q=queue&all=1", "timeline", "health", "inbox", "records")


def of_each_kind(refs: list[str]) -> list[str]:
    """One record of each kind, and all that no program of ours would have written."""
    kinds = {re.split(r"[:.]", ref)[0]: ref for ref in refs}
    return sorted({*kinds.values(), *(ref for ref in refs if "wild" in ref or MARK in ref or "__" in ref)})


@pytest.mark.proof(keep=3)
@proves("P10.3", "H3")
@pytest.mark.parametrize("screen", ["", *SCREENS])
def test_every_screen_shows_hostile_texts_as_texts(watch: Watch, at: str, screen: str) -> None:
    project = at.rpartition("/")[2]
    shown = watch.open(f"#/p/{project}/{screen}" if screen else "#/")
    assert MARK in shown or screen == "graph", "what is hostile is there to be seen"


@pytest.mark.proof
@proves("P10.3", "H3")
def test_every_record_shows_hostile_texts_as_texts(watch: Watch, door: PageDoor, at: str) -> None:
    project = at.rpartition("/")[2]
    refs = [item["ref"] for item in door.get(f"{at}/records?limit=500")["items"]]
    assert {ref.partition(":")[0] for ref in refs} > {"fact", "profile", "bundle", "event", "checkpoint", "episode"}
    assert len(refs) >= 40
    seen = links = 0
    for ref in either(of_each_kind(refs), refs):
        seen += MARK in watch.open(f"#/p/{project}/record/{quote(ref, safe='')}")
        links += watch.page.locator(f".prose a[href='https://{ELSEWHERE}/good'][target=_blank]").count()
        assert watch.page.locator(f".prose a[href*='{MARK}']:not([href^='#'])").count() == 0, ref
    assert seen >= 15
    assert links >= 8, "a link that is good is one"


@proves("P10.3", "H3")
def test_what_floats_above_the_page_is_no_worse(watch: Watch, at: str) -> None:
    """The quick search, and what is told when something is pointed at."""
    watch.open(f"#/p/{at.rpartition('/')[2]}/today")
    watch.page.keyboard.press("Control+k")
    watch.page.keyboard.type("zqdecision <img src=x onerror=window.pwned=81>")
    watch.page.wait_for_function("() => document.activeElement.value?.includes('81')")
    watch.check("palette")
    watch.page.keyboard.press("Escape")
    for screen in ("map", "timeline", "health", "graph"):
        watch.open(f"#/p/{at.rpartition('/')[2]}/{screen}")
        for one in watch.page.locator("main svg [tabindex], main canvas, main [title], main a").all()[:12]:
            if one.is_visible():
                one.hover(force=True, timeout=2_000)
        watch.check(screen)


ADDRESSES = (
    f"#/p/{quote(short_hostile('x'), safe='')}/today",
    f"#/p/{short_hostile('x')}/today",
    "#/p/__proto__/today",
    "#/p/constructor/record/__proto__",
    "#/<img src=x onerror=window.pwned=91>",
    "#javascript:window.pwned=92",
    "#/p/PROJECT/<script>window.pwned=93</script>",
    f"#/p/PROJECT/record/{quote(short_hostile('decision.x'), safe='')}",
    "#/p/PROJECT/record/__proto__",
    "#/p/PROJECT/record/..%2f..%2fsession",
    "#/p/PROJECT/record/javascript:window.pwned=94",
    "#/p/..%2f..%2f..%2fetc/today",
    f"#/p/PROJECT/search?q={quote(hostile('x'), safe='')[:6000]}",
    "#/p/PROJECT/search?q=queue&layers=__proto__&kinds=constructor",
    "#/p/PROJECT/records?layer=__proto__&kind=<img src=x onerror=window.pwned=95>&status=constructor",
    "#/p/PROJECT/graph?ref=__proto__&around=<script>window.pwned=96</script>",
    "#/p/PROJECT/timeline?from=<img src=x>&to=__proto__&day=constructor",
    "#/p/PROJECT/health?path=__proto__&tab=<img src=x onerror=window.pwned=97>",
    "#/p/PROJECT/map?stage=__proto__&open=constructor",
    "#/p/%E0%A4%A/today",
    "#/p/PROJECT/record/%E0%A4%A",
)


@pytest.mark.proof(keep=2)
@proves("P10.3", "H3")
@pytest.mark.parametrize("address", some(ADDRESSES, 9), ids=lambda text: ascii(text[:40]))
def test_no_address_of_the_page_is_more_than_an_address(stray: Watch, at: str, address: str) -> None:
    stray.page.goto("about:blank")
    stray.page.goto(stray.home + address.replace("PROJECT", at.rpartition("/")[2]))
    stray.page.wait_for_selector("main h1, main .empty, main .failed, main [role=alert]")
    stray.check(address)


@proves("P10.3", "H3")
def test_a_token_in_the_address_is_no_more_than_a_token(browser: Browser, door: PageDoor) -> None:
    watch = Watch(browser, f"{door.base}/", scripts=["^app\\.js$"])
    watch.may_be_refused = True
    for secret in ("token=<img src=x onerror=window.pwned=98>", "ticket=javascript:window.pwned=99", "token=abc"):
        watch.page.goto(f"{door.base}/#{secret}")
        watch.page.reload()
        watch.page.wait_for_selector("main h1")
        watch.check(secret)
    watch.context.close()


@pytest.mark.proof
@proves("P10.3", "H3")
def test_what_is_done_to_hostile_records_is_told_as_text(browser: Browser, store: Memory) -> None:
    """Dialogs with their texts to edit, and what is said once something was done; then it is undone."""
    with opened(store, "--write") as door:
        watch = Watch(browser, f"{door.base}/", scripts=["^app\\.js$"])
        watch.may_be_refused = True
        watch.page.goto(door.url)
        watch.page.wait_for_function(READY)
        project = door.get("/api/session")["project"]
        pressed = dialogs = 0
        for place in ("record/decision.zqolder-queue", "record/feature.zqidea-queue", "inbox"):
            watch.open(f"#/p/{project}/{place}")
            buttons = watch.page.locator("main button:visible:enabled")
            names = [re.sub(r"\s+", " ", name).strip() for name in buttons.all_inner_texts()]
            for name in dict.fromkeys(name for name in names if name and len(name) < 30):
                button = watch.page.locator("main button:visible:enabled", has_text=name).first
                if not button.count():
                    continue
                button.click()
                pressed += 1
                watch.check(f"{place}: {name}")
                if watch.page.locator("dialog[open], [role=dialog]").count():
                    dialogs += 1
                    watch.page.keyboard.press("Escape")
        at = f"/api/projects/{project}"
        stale = {"action": "stale", "ref": "decision.zqolder-queue", "reason": hostile("why")[:300]}
        held = door.post(f"{at}/actions", stale)
        assert held.status == 200, held.body
        watch.open(f"#/p/{project}/record/decision.zqolder-queue")
        watch.open(f"#/p/{project}/today")
        assert door.post(f"{at}/undo", {"undo": held.data["undo"]}).status == 200
        watch.check("undone")
        assert pressed >= 5
        assert dialogs >= 1
        watch.context.close()


# -- an export ------------------------------------------------------------------------------------


@pytest.mark.proof(keep=2)
@proves("P10.3", "H3")
@pytest.mark.parametrize("screen", some(["", *SCREENS], 6))
def test_an_export_shows_hostile_texts_as_texts(exported: Watch, screen: str) -> None:
    shown = exported.open(f"#/p/here/{screen}" if screen else "#/")
    assert MARK in shown or screen in ("graph", "inbox")


@pytest.mark.proof
@proves("P10.3", "H3")
def test_every_record_of_an_export_shows_hostile_texts_as_texts(exported: Watch) -> None:
    exported.open("#/p/here/records")
    refs: list[str] = exported.page.evaluate(
        "() => new Promise((done) => { const was = quireData;"
        " globalThis.quireData = (name, value) => { globalThis.quireData = was; done(value.map((one) => one.ref)); };"
        " const one = document.createElement('script'); one.src = 'data/items.js?again'; document.head.append(one);"
        " one.onload = () => one.remove(); })"
    )
    assert len(refs) >= 35
    seen = 0
    for ref in either(of_each_kind(refs), refs):
        seen += MARK in exported.open(f"#/p/here/record/{quote(ref, safe='')}")
    assert seen >= 12


def test_the_files_of_an_export_are_data_and_nothing_else(exported: Watch) -> None:
    """Each hands over one value, which is parsed: no text of a record is ever part of a program, nor of the page."""
    site = Path(exported.home.removeprefix("file://")).parent
    files = sorted((site / "data").iterdir())
    assert len(files) >= 14
    for file in files:
        text = file.read_text()
        head, tail = f'quireData("{file.stem}",JSON.parse("', '"));\n'
        assert text.startswith(head), file
        assert text.endswith(tail), file
        inner = json.loads(text[len(head) - 1 : -len(tail) + 1])
        json.loads(inner)
        assert "\n" not in text[:-1]
    html = (site / "index.html").read_text()
    assert MARK not in html
    assert ELSEWHERE not in html
    policy = html.partition('http-equiv="content-security-policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in policy
    assert "connect-src" not in policy, "an export asks nobody for anything"


# -- what is no text --------------------------------------------------------------------------------


@pytest.mark.proof
def test_half_a_character_in_a_journal_hides_nothing(tmp_path: Path) -> None:
    """JSON can say half of a pair; what reads it patiently reads it everywhere."""
    memory = harbor(tmp_path)
    saved_nodes(memory)
    assert memory("journal", "init").code == 0
    state = memory.cwd / ".agent-memory/state.json"
    held: dict[str, Any] = json.loads(state.read_bytes())
    trap = {"title": "half \ud83d", "cause": "x", "correctPath": "x", "source": "none", "symptom": "none"}
    held["bundle"]["gotchas"] = [trap]
    state.write_text(json.dumps(held))
    with opened(memory) as door:
        at = f"/api/projects/{door.get('/api/session')['project']}"
        items = door.get(f"{at}/records?limit=500")["items"]
        assert [item for item in items if item["ref"].startswith("bundle:gotchas.")]
        for item in items:
            for name in ("record", "history"):
                reply = door.ask(f"{at}/{name}?ref={quote(item['ref'])}")
                assert reply.status == 200, (name, item["ref"], reply.body)
