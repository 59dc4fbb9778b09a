/** Light or dark: as the system has it, until someone chooses. */
import { useEffect, useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";
const KEPT = "quire.theme";

export function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEPT);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => applyTheme(theme), [theme]);
  return [
    theme,
    (next) => {
      try {
        localStorage.setItem(KEPT, next);
      } catch {
        // It lasts as long as the page.
      }
      applyTheme(next);
      setTheme(next);
      // What is drawn on a canvas asks for its colours anew.
      queueMicrotask(() => dispatchEvent(new Event("quire-theme")));
    },
  ];
}

/** The value of a colour of the style, such as `--ink`, for what is drawn on a canvas. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
