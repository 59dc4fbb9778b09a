/** Go anywhere: screens, projects, and any record by some words of it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { projectPath, source } from "../data/source.ts";
import type { ProjectList, RecordPage } from "../data/types.ts";
import { usePage } from "../data/use.ts";
import { Kind } from "../parts/badges.tsx";
import { Dialog } from "./dialog.tsx";
import { href, navigate, recordHref, SCREENS } from "./router.ts";

interface Goal {
  label: string;
  kind: string;
  to: string;
}

const PAUSE_MS = 120;
const NEAR = 14;

export function Palette({ onClose }: { onClose: () => void }) {
  const { project } = usePage();
  const [text, setText] = useState("");
  const [goals, setGoals] = useState<Goal[]>([]);
  const [place, setPlace] = useState(0);
  // What was typed may be ahead of what was found: Enter waits for what belongs to it.
  const [found, setFound] = useState("");
  const [entered, setEntered] = useState(false);
  const list = useRef<HTMLUListElement>(null);

  useEffect(() => {
    const ending = new AbortController();
    const wait = setTimeout(() => void goalsFor(text.trim(), project, ending.signal).then(show, () => {}), text ? PAUSE_MS : 0);
    function show(all: Goal[]) {
      if (ending.signal.aborted) return;
      setGoals(all);
      setPlace(0);
      setFound(text);
    }
    return () => {
      clearTimeout(wait);
      ending.abort();
    };
  }, [text, project]);
  useEffect(() => list.current?.children[place]?.scrollIntoView({ block: "nearest" }), [place]);

  const go = (goal: Goal | undefined) => {
    if (!goal) return;
    onClose();
    navigate(goal.to);
  };
  useEffect(() => {
    if (entered && found === text) go(goals[0]);
  }, [entered, found]);
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setPlace((now) => Math.min(now + 1, goals.length - 1));
    else if (event.key === "ArrowUp") setPlace((now) => Math.max(now - 1, 0));
    else if (event.key === "Enter" && found === text) go(goals[place]);
    else if (event.key === "Enter") setEntered(true);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="palette-input"
        placeholder="A record, a screen, a project"
        aria-label="Where to"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={goals.length ? `goal-${place}` : undefined}
        value={text}
        autofocus
        onInput={(event) => (setEntered(false), setText(event.currentTarget.value))}
        onKeyDown={pressed}
      />
      <ul id="palette-list" class="palette-list" role="listbox" aria-label="Places" ref={list}>
        {goals.map((goal, number) => (
          <li key={`${goal.kind} ${goal.to}`} id={`goal-${number}`} role="option" aria-selected={number === place} onClick={() => go(goal)}>
            <Kind kind={goal.kind} /> <span>{goal.label}</span>
          </li>
        ))}
        {!goals.length && text && found === text ? <li class="faint">No match.</li> : null}
      </ul>
    </Dialog>
  );
}

async function goalsFor(text: string, project: string, signal: AbortSignal): Promise<Goal[]> {
  const wanted = text.toLowerCase();
  const fits = (goal: Goal) => goal.label.toLowerCase().includes(wanted);
  const screens = project
    ? SCREENS.map((screen) => ({ label: screen[0]!.toUpperCase() + screen.slice(1), kind: "screen", to: href(project, screen) }))
    : [];
  const { projects } = await source().get<ProjectList>("projects", {}, signal);
  const others = projects.filter((entry) => entry.available).map((entry) => ({ label: entry.name, kind: "project", to: href(entry.id) }));
  const near = [...screens, ...others].filter(fits);
  if (!wanted || !project) return near.slice(0, NEAR);
  const page = await source().get<RecordPage>(projectPath(project, "records"), { text, limit: 50 }, signal);
  const records = page.items.map((item) => ({ label: item.title, kind: item.kind, to: recordHref(project, item.ref) }));
  // What is called so is meant before what only says so somewhere, however new that is.
  records.sort((a, b) => Number(fits(b)) - Number(fits(a)));
  return [...near, ...records.slice(0, 12)];
}
