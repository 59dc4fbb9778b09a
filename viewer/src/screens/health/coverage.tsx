/** What of the code the memory tells about: a map of its folders, and the largest that nobody has told about. */
import { choose } from "../../app/router.ts";
import type { CoverageHealth, CoverNode } from "../../data/types.ts";
import { useProjectData } from "../../data/use.ts";
import { bytes, percent } from "../../parts/charts/numbers.ts";
import { counted, number } from "../../parts/counted.ts";
import { StackedBar } from "../../parts/charts/stacked-bar.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import { AllOf, FIRST, type PartProps } from "./part.tsx";
import { Table } from "./table.tsx";
import { gapsOf, type Measure, wayTo } from "./tree.ts";
import { Treemap } from "./treemap.tsx";

const MOST = 200;
const LEGEND = ["fresh", "changed", "moved", "orphaned", "unverifiable"];

export function CoveragePart({ route, whole }: PartProps) {
  const asked = useProjectData<CoverageHealth>("health/coverage");
  return <Answered asked={asked}>{(data) => <Shown data={data} query={route.query} whole={whole} />}</Answered>;
}

function Shown({ data, query, whole }: { data: CoverageHealth; query: URLSearchParams; whole: boolean }) {
  const measure: Measure = query.get("size") === "files" ? "files" : "bytes";
  const way = wayTo(data.root, query.get("folder") ?? "");
  const folder = way[way.length - 1]!;
  if (!data.files) {
    return (
      <Empty title="Git tracks no code here.">
        Here you see tracked code, and which features cover it: <code>memory add feature … --anchor PATH</code> records one.
        Without git there is nothing to count.
      </Empty>
    );
  }
  const bare = data.files - data.covered;
  return (
    <div class="pad">
      <p class="lead">
        <b>{percent(data.covered, data.files)}</b> of {counted(data.files, "file")}{" "}
        {data.files === 1 ? "is" : "are"} covered by a feature
        {bare ? `; ${number(bare)} ${bare === 1 ? "is" : "are"} not` : ""}.
      </p>
      <StackedBar
        label="Files"
        parts={[
          { name: "covered", value: data.covered, colour: "fresh" },
          { name: "not covered", value: bare, colour: "line-2" },
        ]}
      />
      <div class="tree-head">
        <Way way={way} />
        <div class="chips" role="group" aria-label="Size of the tiles">
          {(["bytes", "files"] as const).map((one) => (
            <button
              key={one}
              class="chip"
              aria-pressed={measure === one}
              onClick={() => choose({ size: one === "files" ? "files" : "" })}
            >
              {one === "bytes" ? "By bytes" : "By files"}
            </button>
          ))}
        </div>
      </div>
      <Treemap
        folder={folder}
        above={way[way.length - 2] ?? null}
        measure={measure}
        at={query.get("at") ?? ""}
        titles={data.titles}
      />
      <p class="tree-legend" aria-hidden="true">
        <span class="swatch bare">not covered</span>
        {LEGEND.map((verdict) => (
          <span key={verdict} class="swatch" style={{ "--c": `var(--${verdict})` }}>
            {verdict}
          </span>
        ))}
      </p>
      {data.cut ? <p class="faint small">Small files and folders are combined.</p> : null}
      <Gaps folder={folder} measure={measure} whole={whole} />
    </div>
  );
}

/** Where in the tree one is, each step a way back. */
function Way({ way }: { way: CoverNode[] }) {
  return (
    <nav class="way" aria-label="Folder">
      {way.map((node, number) => {
        const above = way[number - 1]?.path ?? "";
        const name = number ? node.path.slice(above ? above.length + 1 : 0) : "All code";
        return (
          <span key={node.path}>
            {number === way.length - 1 ? (
              <b aria-current="location">{name}</b>
            ) : (
              <button class="quiet" onClick={() => choose({ folder: node.path, at: "" })}>
                {name}
              </button>
            )}
          </span>
        );
      })}
    </nav>
  );
}

function Gaps({ folder, measure, whole }: { folder: CoverNode; measure: Measure; whole: boolean }) {
  const gaps = gapsOf(folder, measure);
  if (!gaps.length) return <p class="well">Every file here is covered.</p>;
  return (
    <>
      <h3>Largest uncovered folders</h3>
      <Table
        label="Largest uncovered folders"
        heads={["Folder", "Files not covered", "Size"]}
        rows={gaps.slice(0, whole ? MOST : FIRST).map((gap) => [
          <button class="link" onClick={() => choose({ folder: gap.path, at: "" })}>
            {gap.path || "All code"}
            {gap.partly ? <span class="faint"> (single files in it)</span> : null}
          </button>,
          number(gap.files),
          bytes(gap.bytes),
        ])}
      />
      <AllOf part="coverage" total={Math.min(gaps.length, MOST)} whole={whole} />
    </>
  );
}
