/** The frame around every screen: where one is, where one can go, whether it is live. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ProjectList } from "../data/types.ts";
import { useData, usePage } from "../data/use.ts";
import { Dialog } from "./dialog.tsx";
import { type Key, useKeys } from "./keys.ts";
import { Palette } from "./palette.tsx";
import { href, navigate, type Route, SCREENS, type Screen } from "./router.ts";
import { type Theme, useTheme } from "./theme.ts";

const NAMES: Record<string, string> = {
  today: "Today",
  records: "Records",
  map: "Map",
  graph: "Graph",
  search: "Search",
  inbox: "Inbox",
  timeline: "Timeline",
  health: "Health",
};
/** What each of them answers, for the help. */
const ABOUT: Record<string, string> = {
  today: "what changed, what is out of date, what is pending",
  records: "all records, with filters",
  map: "features by stage",
  graph: "how records are related",
  search: "what an agent would get",
  inbox: "proposals to accept or reject",
  timeline: "when what happened",
  health: "records against the code, and what agents were sent",
};
/** What follows `g`: the first letter, but for the timeline, which comes after today. */
const LETTERS: Record<string, string> = {
  today: "t",
  records: "r",
  map: "m",
  graph: "g",
  search: "s",
  inbox: "i",
  timeline: "l",
  health: "h",
};
const ICONS: Record<string, string> = {
  today: "M4 5h16v15H4zM4 9h16M8 3v4M16 3v4",
  records: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  map: "M4 5h4v14H4zM10 5h4v9h-4zM16 5h4v12h-4z",
  graph: "M6 6h.01M18 8h.01M8 18h.01M17 17h.01M6 6l12 2M6 6l2 12M8 18l9-1M18 8l-1 9",
  search: "M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM15.500 15.500L20 20",
  inbox: "M4 13l3-8h10l3 8v6H4zM4 13h5l1 2h4l1-2h5",
  timeline: "M3 12h18M7 8v8M12 6v12M17 9v6",
  health: "M3 12h4l2-6 4 12 2-6h6",
};
const MOD = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
const THEMES: Record<Theme, [Theme, string]> = {
  system: ["light", "Theme: system"],
  light: ["dark", "Theme: light"],
  dark: ["system", "Theme: dark"],
};

const SIGNS: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };

export function Shell({ route, children }: { route: Route; children: ComponentChildren }) {
  const { project, live, session } = usePage();
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const [theme, setTheme] = useTheme();
  const main = useRef<HTMLElement>(null);

  const keys = useMemo<Key[]>(() => {
    const go = (screen: Screen) => () => navigate(href(project, screen));
    const within = SCREENS.map((screen) => ({ keys: `g ${LETTERS[screen]}`, says: NAMES[screen]!, about: ABOUT[screen], run: go(screen) }));
    return [
      ...(project ? within : []),
      { keys: "g p", says: "Projects", run: () => navigate("#/") },
      { keys: "/", says: "Search", run: () => navigate(project ? href(project, "search") : "#/") },
      { keys: "mod+k", says: "Go to a record, a screen, a project", run: () => setPalette(true) },
      { keys: "d", says: "Switch the theme", run: () => setTheme(THEMES[theme][0]) },
      { keys: "?", says: "This help", run: () => setHelp(true) },
    ];
  }, [project, theme]);
  useKeys(keys);

  // Whoever moves by keyboard or listens goes on where the new screen begins.
  const where = `${route.screen} ${route.project} ${route.rest}`;
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
    scrollTo(0, 0);
  }, [where]);

  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to content
      </a>
      <nav class="side" aria-label="Screens">
        <a class="brand" href="#/" title="All projects">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M5 8c3.500-1.800 7-1.800 11 .8 4-2.600 7.500-2.600 11-.8v16c-3.500-1.800-7-1.800-11 .8-4-2.600-7.500-2.600-11-.8zM16 9v15.500" />
          </svg>
          <span>Quire</span>
        </a>
        {project ? <Switcher project={project} screen={route.screen} /> : null}
        {project
          ? SCREENS.map((screen) => (
              <a
                key={screen}
                class="nav"
                href={href(project, screen)}
                aria-current={route.screen === screen ? "page" : undefined}
              >
                <svg viewBox="0 0 24 24" aria-hidden="true">
                  <path d={ICONS[screen]} />
                </svg>
                <span>{NAMES[screen]}</span>
              </a>
            ))
          : null}
        <div class="side-foot">
          <button class="quiet" onClick={() => setPalette(true)}>
            Go to… <kbd>{MOD} K</kbd>
          </button>
          <button class="quiet theme" onClick={() => setTheme(THEMES[theme][0])} aria-label={THEMES[theme][1]}>
            <span class="theme-sign" aria-hidden="true">
              {SIGNS[theme]}
            </span>
            <span class="theme-name">{THEMES[theme][1]}</span>
          </button>
          <button class="quiet" onClick={() => setHelp(true)} aria-label="Help and keys">
            ?
          </button>
          <span class={`live ${session.exported ? "exported" : live ? "on" : "off"}`} role="status">
            {session.exported ? "Export" : live ? "Live" : "Not connected"}
          </span>
        </div>
      </nav>
      <main id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
      {palette ? <Palette onClose={() => setPalette(false)} /> : null}
      {help ? <Help keys={keys} onClose={() => setHelp(false)} /> : null}
    </div>
  );
}

function Switcher({ project, screen }: { project: string; screen: string }) {
  const { data } = useData<ProjectList>("projects");
  const projects = data?.projects ?? [];
  const target = (SCREENS as readonly string[]).includes(screen) ? (screen as Screen) : "today";
  return (
    <select
      class="switcher"
      aria-label="Project"
      value={project}
      onChange={(event) => navigate(href(event.currentTarget.value, target))}
    >
      {projects.map((entry) => (
        <option key={entry.id} value={entry.id} disabled={!entry.available}>
          {entry.name}
        </option>
      ))}
      {projects.some((entry) => entry.id === project) ? null : <option value={project}>{project}</option>}
    </select>
  );
}

function Help({ keys, onClose }: { keys: Key[]; onClose: () => void }) {
  return (
    <Dialog title="Screens and keys" onClose={onClose}>
      <table class="keys">
        <tbody>
          {keys.map((key) => (
            <tr key={key.keys}>
              <td>
                {key.keys.split(" ").map((one) => (
                  <kbd key={one}>{one.replace("mod+", `${MOD} `)}</kbd>
                ))}
              </td>
              <td>
                {key.says}
                {key.about ? <span class="faint">: {key.about}</span> : null}
              </td>
            </tr>
          ))}
          <tr>
            <td>
              <kbd>j</kbd>
              <kbd>k</kbd>
            </td>
            <td>Next, previous in a list (arrows, too); Enter opens</td>
          </tr>
        </tbody>
      </table>
    </Dialog>
  );
}
