/** Which layers and kinds are searched, and how much is shown of it. */
import { choose, type Route } from "../../app/router.ts";
import type { RecordPage } from "../../data/types.ts";
import { kindName } from "../../parts/badges.tsx";
import { useProjectData } from "../../data/use.ts";

const LAYERS = ["graph", "facts", "profile", "journal"];
const KINDS = ["feature", "decision", "gotcha", "question"];

export function Choices({ route }: { route: Route }) {
  // What there is to choose from is what the project has; until that is known, what every one may have.
  const { data } = useProjectData<RecordPage>("records", { limit: 1 });
  const layers = LAYERS.filter((layer) => !data || data.facets.layer[layer]);
  const counted = Object.entries(data?.facets.kind ?? {}).filter(([kind]) => kind !== "project");
  const kinds = data ? counted.sort(([, a], [, b]) => b - a).map(([kind]) => kind) : KINDS;
  return (
    <div class="search-choices">
      <Several name="layers" label="Layers" options={layers} route={route} />
      <Several name="kinds" label="Kinds" options={kinds} route={route} />
      <div class="chips" role="group" aria-label="More">
        <Switch name="all" label="Include retired records" route={route} />
        <Switch name="explain" label="Explain scores" route={route} />
      </div>
    </div>
  );
}

interface Given {
  name: string;
  label: string;
  route: Route;
}

/** Some of several; none chosen means all. */
function Several({ name, label, options, route }: Given & { options: string[] }) {
  const chosen = (route.query.get(name) ?? "").split(",").filter(Boolean);
  // What the address names is shown even if the project has none of it: it can be taken back only where it is seen.
  const all = [...options, ...chosen.filter((one) => !options.includes(one))];
  if (all.length < 2 && !chosen.length) return null;
  const toggle = (one: string) =>
    choose({ [name]: (chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]).join(",") });
  return (
    <div class="chips" role="group" aria-label={label}>
      <span class="chips-name" aria-hidden="true">
        {label}
      </span>
      {all.map((one) => (
        <button key={one} class="chip" aria-pressed={chosen.includes(one)} onClick={() => toggle(one)}>
          {name === "kinds" ? kindName(one) : one}
        </button>
      ))}
    </div>
  );
}

function Switch({ name, label, route }: Given) {
  const on = route.query.get(name) === "1";
  return (
    <button class="chip" aria-pressed={on} onClick={() => choose({ [name]: on ? "" : "1" })}>
      {label}
    </button>
  );
}
