/** The graph: all records and what ties them, to look at and to walk through. */
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { choose, navigate, recordHref, type Route } from "../../app/router.ts";
import type { GraphData } from "../../data/types.ts";
import { usePage, useProjectData } from "../../data/use.ts";
import { counted, number } from "../../parts/counted.ts";
import { Answered, Empty } from "../../parts/states.tsx";
import { useTyped } from "../../parts/typed.ts";
import { Bar, ColourBy, FocusBar } from "./bar.tsx";
import { GraphCanvas } from "./canvas.tsx";
import { filtered, legendOf, matching, readChoices } from "./choices.ts";
import { graphKey } from "./keyboard.ts";
import { NodeList } from "./list.tsx";
import { network } from "./model.ts";
import { NodePanel } from "./node-panel.tsx";
import { shortest, within } from "./paths.ts";
import type { Stage } from "./stage.ts";
import { useLayout } from "./use-layout.ts";
import { WayPanel } from "./way-panel.tsx";

/** What "Reset" takes back. */
const ALL = "kinds folders layers verdicts predicates live by q focus steps from to at panel".split(" ");

export function GraphScreen({ route }: { route: Route }) {
  const asked = useProjectData<GraphData>("graph");
  return (
    <Answered asked={asked}>
      {(data) =>
        data.refs.length ? (
          <Graph data={data} route={route} />
        ) : (
          <>
            <div class="screen-head">
              <h1>Graph</h1>
            </div>
            <Empty title="No records yet.">
              Records and their relations are shown here. <code>memory add</code> records the first one.
            </Empty>
          </>
        )
      }
    </Answered>
  );
}

function Graph({ data, route }: { data: GraphData; route: Route }) {
  const { project } = usePage();
  const query = route.query.toString();
  const choices = useMemo(() => readChoices(new URLSearchParams(query)), [query]);
  const net = useMemo(() => network(data), [data]);
  const stage = useRef<Stage | null>(null);
  const { text, setText } = useTyped(choices.text, (q) => choose({ q }));

  const nodeOf = (ref: string) => net.place.get(ref) ?? -1;
  const selected = nodeOf(choices.at);
  const from = nodeOf(choices.from);
  const to = nodeOf(choices.to);
  const asksWay = from >= 0 && to >= 0;
  const focus = asksWay ? -1 : nodeOf(choices.focus);
  const reach = useMemo(() => (focus < 0 ? null : within(net, focus, choices.steps)), [net, focus, choices.steps]);
  const way = useMemo(() => (asksWay ? shortest(net, from, to) : null), [net, asksWay, from, to]);
  const shown = useMemo(() => filtered(net, choices, reach, way?.nodes), [net, reach, way, ...filters(query)]);
  const legend = useMemo(() => legendOf(net, choices, choices.by, reach), [net, reach, ...filters(query)]);
  const listed = useMemo(() => matching(net, text, shown.nodes), [net, text, shown]);
  const matched = useMemo(() => {
    if (!text.trim()) return null;
    const found = new Uint8Array(net.size);
    for (const node of listed) found[node] = 1;
    return found;
  }, [net, listed, text.trim() === ""]);
  const laid = useLayout(net, reach, focus, choices.by, (positions) => stage.current?.show({ positions }));

  useEffect(() => stage.current?.fit(false), [focus, choices.steps]);
  useEffect(() => {
    if (way && laid.settled) stage.current?.goToAll(way.nodes);
  }, [way, laid.settled]);

  /** The node whose neighbours `n` and `p` walk through. */
  const origin = useRef(selected);
  const select = useCallback((node: number) => {
    origin.current = node;
    choose({ at: node < 0 ? "" : data.refs[node]! });
  }, [data]);
  const selectAndGo = (node: number) => {
    select(node);
    if (node >= 0) stage.current?.goTo(node);
  };
  const open = (node: number) => navigate(recordHref(project, data.refs[node]!));
  const clear = () => {
    if (selected >= 0) select(-1);
    else if (choices.from || choices.to) choose({ from: "", to: "", panel: "" });
    else if (text) setText("");
    else if (choices.focus) choose({ focus: "", steps: "" });
  };
  const go = (node: number) => {
    choose({ at: data.refs[node]! });
    stage.current?.goTo(node);
  };
  const pressed = (event: KeyboardEvent) =>
    graphKey(event, { net, stage: stage.current, selected, origin, shown, go, open, clear });
  const reset = () => {
    choose(Object.fromEntries(ALL.map((name) => [name, ""])));
    setText("");
    stage.current?.fit();
  };
  const any = ALL.some((name) => route.query.get(name));
  const counts = `${counted(shown.nodeCount, "record")}, ${counted(shown.edgeCount, "relation")}`;
  const byPath = selected < 0 && (choices.panel === "path" || choices.from !== "" || choices.to !== "");

  return (
    <div
      class={`graph${selected >= 0 ? " has-node" : ""}`}
      onKeyDown={pressed}
      data-nodes={net.size}
      data-edges={net.source.length}
      data-shown={shown.nodeCount}
      data-shown-edges={shown.edgeCount}
      data-selected={selected < 0 ? "" : choices.at}
      data-focus={focus < 0 ? "" : choices.focus}
      data-settled={String(laid.settled)}
      data-path-length={asksWay ? (way?.edges.length ?? -1) : ""}
    >
      <div class="screen-head">
        <h1>Graph</h1>
        <p>
          {counts}
          {data.cut ? ` of the first ${number(net.size)} of ${number(data.total)}` : ""}
        </p>
        <ColourBy by={choices.by} />
        {any ? (
          <button class="quiet small" onClick={reset}>
            Reset
          </button>
        ) : null}
      </div>
      <Bar choices={choices} legend={legend} predicates={data.words.predicate} />
      <div class="graph-room">
        <GraphCanvas
          {...{ net, shown, by: choices.by, selected, matched, way, laid, stage }}
          summary={`Graph of ${counts}. The list of records beside it says the same.`}
          onSelect={select}
          onOpen={open}
        >
          {focus >= 0 ? <FocusBar title={data.titles[focus]!} steps={choices.steps} /> : null}
          {shown.nodeCount ? null : (
            <div class="graph-nothing">
              <Empty title="Nothing matches.">Clear some of the filters above.</Empty>
            </div>
          )}
        </GraphCanvas>
        <aside class="graph-panel" aria-label="Records">
          {selected >= 0 ? (
            <NodePanel
              {...{ net, node: selected, by: choices.by, onSelect: selectAndGo }}
              hidden={!shown.nodes[selected]}
            />
          ) : (
            <>
              <div class="graph-by graph-tabs" role="group" aria-label="Panel">
                <button aria-pressed={!byPath} onClick={() => choose({ panel: "", from: "", to: "" })}>
                  records
                </button>
                <button aria-pressed={byPath} onClick={() => choose({ panel: "path" })}>
                  path
                </button>
              </div>
              {byPath ? (
                <WayPanel
                  {...{ net, way, by: choices.by, onSelect: selectAndGo }}
                  from={choices.from}
                  to={choices.to}
                />
              ) : (
                <>
                  <Find
                    text={text}
                    found={listed.length}
                    onText={setText}
                    onEnter={() => listed.length && selectAndGo(listed[0]!)}
                  />
                  <NodeList net={net} nodes={listed} by={choices.by} selected={selected} onSelect={selectAndGo} />
                </>
              )}
            </>
          )}
        </aside>
      </div>
      <div class="visually-hidden" role="status">
        {selected >= 0 ? `Selected: ${data.titles[selected]}` : ""}
      </div>
    </div>
  );
}

function Find(props: { text: string; found: number; onText: (text: string) => void; onEnter: () => void }) {
  return (
    <div class="graph-find">
      <input
        type="search"
        placeholder="Find a record"
        aria-label="Find a record"
        value={props.text}
        onInput={(event) => props.onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") props.onEnter();
          else if (event.key === "Escape") (props.onText(""), event.preventDefault());
        }}
      />
      <span class="count" role="status">
        {props.text.trim() ? `${number(props.found)} found` : number(props.found)}
      </span>
    </div>
  );
}

/** The part of the address that says what is shown: only when it changes is the network gone through again. */
function filters(query: string): string[] {
  const all = new URLSearchParams(query);
  return ["kinds", "folders", "layers", "verdicts", "predicates", "live", "by"].map((name) => all.get(name) ?? "");
}
