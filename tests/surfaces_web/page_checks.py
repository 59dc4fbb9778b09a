"""What has to hold on every screen: names for the ear, contrast for the eye, room for small windows."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

__all__ = ["accessibility_faults", "contrast_faults", "sideways"]

LEAST_CONTRAST = 4.5
_INTERACTIVE = {
    *("button", "link", "textbox", "searchbox", "combobox", "listbox", "option", "checkbox", "radio", "slider"),
    *("tab", "menuitem", "switch", "spinbutton", "DisclosureTriangle", "dialog"),
}
_STRUCTURE = """() => {
  const faults = [];
  const h1 = document.querySelectorAll("h1").length;
  if (h1 !== 1) faults.push(`${h1} h1`);
  if (!document.documentElement.lang) faults.push("no language");
  if (document.querySelectorAll("main").length !== 1) faults.push("not one main");
  for (const nav of document.querySelectorAll("nav")) {
    if (!nav.getAttribute("aria-label")) faults.push("a nav without a name");
  }
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) faults.push(`twice: #${id}`);
  for (const name of ["aria-labelledby", "aria-controls", "aria-describedby", "for"]) {
    for (const one of document.querySelectorAll(`[${name}]`)) {
      for (const id of one.getAttribute(name).split(/\\s+/)) {
        if (!document.getElementById(id)) faults.push(`${name} names nothing: ${id}`);
      }
    }
  }
  let level = 0;
  for (const head of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const now = Number(head.tagName[1]);
    if (now > level + 1) faults.push(`h${level} is followed by h${now}: ${head.textContent}`);
    level = now;
  }
  // Whatever can be pressed is reached by Tab; in a list with a roving place, one of its rows is.
  const pressable = "a[href], button, input, select, textarea, summary, [role=slider], [onclick]";
  for (const one of document.querySelectorAll(pressable)) {
    if (one.disabled || !one.getClientRects().length || one.tabIndex >= 0) continue;
    const like = `${one.tagName}.${one.classList[0]}[tabindex="0"]`;
    const rows = one.closest("ul, [role=listbox]");
    if (one.parentElement.querySelector(like) || rows?.querySelector(like)) continue;
    faults.push(`not reached by Tab: ${one.outerHTML.slice(0, 120)}`);
  }
  return faults;
}"""
_CONTRAST = """async (least) => {
  await Promise.allSettled(document.getAnimations().map((one) => one.finished));
  const pad = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const brush = pad.getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (text) => {
    if (!known.has(text)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = text;
      brush.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
      known.set(text, [r, g, b, a / 255]);
    }
    return known.get(text);
  };
  const over = (top, under) => {
    const a = top[3] + under[3] * (1 - top[3]);
    if (!a) return [0, 0, 0, 0];
    return [0, 1, 2].map((n) => (top[n] * top[3] + under[n] * under[3] * (1 - top[3])) / a).concat(a);
  };
  const behind = (element) => {
    let found = [0, 0, 0, 0];
    for (let at = element; at && found[3] < 0.999; at = at.parentElement) {
      found = over(found, rgba(getComputedStyle(at).backgroundColor));
    }
    return over(found, rgba(getComputedStyle(document.documentElement).colorScheme.includes("dark") &&
      matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#ffffff"));
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const faults = new Map();
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const element = words.currentNode.parentElement;
    const said = words.currentNode.textContent.trim();
    if (!said || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.closest("script, style, noscript, .visually-hidden, :disabled, [aria-disabled=true]")) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(element);
    let ink = [...rgba(element.closest("svg") ? style.fill : style.color)];
    for (let at = element; at; at = at.parentElement) ink[3] *= Number(getComputedStyle(at).opacity);
    const ground = behind(element.closest("svg") ?? element);
    const [a, b] = [light(over(ink, ground)), light(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) {
      const name = `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""}`;
      if (!faults.has(name)) faults.set(name, `${ratio.toFixed(2)} ${name}: ${said.slice(0, 40)}`);
    }
  }
  return [...faults.values()];
}"""


def accessibility_faults(page: Page) -> list[str]:
    """What a person who listens or has no mouse would miss."""
    faults: list[str] = page.evaluate(_STRUCTURE)
    session = page.context.new_cdp_session(page)
    nodes: list[dict[str, Any]] = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    for node in nodes:
        role = node.get("role", {}).get("value", "")
        named = str(node.get("name", {}).get("value", "")).strip()
        if not node.get("ignored") and (role in _INTERACTIVE) and not named:
            faults.append(f"a {role} without a name")
        if not node.get("ignored") and role in {"image", "img", "graphics-document", "Canvas"} and not named:
            faults.append(f"a picture without words ({role})")
    return faults


def contrast_faults(page: Page) -> list[str]:
    """Text that is too faint on what lies behind it, once for each kind of element."""
    found: list[str] = page.evaluate(_CONTRAST, LEAST_CONTRAST)
    return found


def sideways(page: Page) -> list[str]:
    """What is wider than the window, if the page as a whole is."""
    found: list[str] = page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] :
          [`${document.documentElement.scrollWidth} of ${innerWidth}`,
            ...[...document.querySelectorAll("body *")]
              .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
              .slice(0, 5).map((one) => `${one.tagName}.${one.className}`)]"""
    )
    return found
