/** What lies on disk: a card for each layer, what git thinks of it, and what cannot be read. */
import { href } from "../../app/router.ts";
import type { FileHealth, LayerFiles, Problem } from "../../data/types.ts";
import { usePage, useProjectData } from "../../data/use.ts";
import { bytes } from "../../parts/charts/numbers.ts";
import { counted, number } from "../../parts/counted.ts";
import { Answered } from "../../parts/states.tsx";
import { Ticked } from "../../parts/ticked.tsx";
import { Ago } from "../../parts/times.tsx";

const NAMES: Record<string, string> = { graph: "Graph", facts: "Facts", profile: "Profile", journal: "Journal" };
/** What puts something there. */
const MADE_BY: Record<string, string> = {
  graph: "memory add",
  facts: "memory add fact",
  profile: "memory add preference",
  journal: "memory journal init",
};
const PROBLEMS = 20;

export function FilesPart() {
  const asked = useProjectData<FileHealth>("health/files");
  return (
    <Answered asked={asked}>
      {(data) => (
        <div class="pad">
          <div class="layer-cards">
            {data.layers.map((layer) => (
              <LayerCard key={layer.layer} layer={layer} />
            ))}
          </div>
          <p class="index-line">
            <code>{data.index.path}</code> <span class="faint">index, rebuilt from the files at any time:</span>{" "}
            {data.index.bytes ? bytes(data.index.bytes) : "none"}
          </p>
        </div>
      )}
    </Answered>
  );
}

function LayerCard({ layer }: { layer: LayerFiles }) {
  const { project } = usePage();
  const name = NAMES[layer.layer] ?? layer.layer;
  return (
    <section class={`layer-card${layer.present ? "" : " missing"}`} aria-label={name}>
      <header>
        <h3>{name}</h3>
        <code>{layer.folder}</code>
      </header>
      {layer.present ? (
        <>
          <p class="layer-records">
            <a href={href(project, "records", "", { layer: layer.layer })}>
              <b>{number(layer.records)}</b> {layer.records === 1 ? "record" : "records"}
            </a>
          </p>
          <dl>
            <dt>On disk</dt>
            <dd>
              {counted(layer.files, "file")}, {bytes(layer.bytes)}
            </dd>
            <dt>Git</dt>
            <dd>
              <Kept layer={layer} />
            </dd>
            {layer.newest ? (
              <>
                <dt>Newest</dt>
                <dd>
                  <Ago time={layer.newest} />
                </dd>
              </>
            ) : null}
          </dl>
        </>
      ) : (
        <p class="faint">
          Nothing yet. <code>{MADE_BY[layer.layer]}</code> writes the first record.
        </p>
      )}
      {layer.problems.length ? <Problems problems={layer.problems} /> : null}
    </section>
  );
}

function Kept({ layer }: { layer: LayerFiles }) {
  if (layer.tracked === null) return <>no git repository</>;
  if (!layer.tracked) return <>not committed</>;
  if (!layer.changed) return <>all committed</>;
  return <span class="uncommitted">{counted(layer.changed, "file")} not committed</span>;
}

function Problems({ problems }: { problems: Problem[] }) {
  return (
    <ul class="problems" aria-label="Problems">
      {problems.slice(0, PROBLEMS).map((problem, number) => (
        <li key={number}>
          {problem.path ? <code>{problem.path}</code> : null}
          <span>
            <Ticked text={problem.message} />
          </span>
          {problem.hint ? (
            <span class="faint">
              <Ticked text={problem.hint} />
            </span>
          ) : null}
        </li>
      ))}
      {problems.length > PROBLEMS ? (
        <li class="faint">
          <span>
            and {number(problems.length - PROBLEMS)} more: <code>memory check</code> lists them.
          </span>
        </li>
      ) : null}
    </ul>
  );
}
