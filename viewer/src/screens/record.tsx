/** One record in full: its text, whether it is up to date, its relations, its history. */
import { useEffect } from "preact/hooks";
import { href, type Route } from "../app/router.ts";
import type { Field, RecordDetail } from "../data/types.ts";
import { usePage, useProjectData } from "../data/use.ts";
import { number } from "../parts/counted.ts";
import { Facts } from "../parts/facts-of-record.tsx";
import { ItemRow } from "../parts/items.tsx";
import { Prose } from "../parts/prose.tsx";
import { Failed, Loading } from "../parts/states.tsx";
import { Ticked } from "../parts/ticked.tsx";
import { Evidence } from "./record/evidence.tsx";
import { RecordHead } from "./record/head.tsx";
import { Past } from "./record/past.tsx";
import { Relations } from "./record/relations.tsx";
import { VerdictPanel } from "./record/verdict.tsx";

/** The field that says how many relations are not told. */
const LEFT_OUT = "relations left out";

export function RecordScreen({ route }: { route: Route }) {
  const ref = route.rest;
  const asked = useProjectData<RecordDetail>("record", { ref });
  const { data, error } = asked;
  useEffect(() => {
    if (data) document.title = `${data.item.title} · Quire`;
  }, [data?.item.title]);
  if (data)
    return (
      <>
        {error ? <Failed error={error} again={asked.again} /> : null}
        <Shown detail={data} route={route} />
      </>
    );
  const missing = error && (error.status === 404 || error.code.endsWith("NotFound"));
  if (missing) return <Missing refText={ref} why={error.hint} />;
  return (
    <>
      <div class="screen-head">
        <h1 class="visually-hidden">Record {ref}</h1>
      </div>
      {error ? <Failed error={error} again={asked.again} /> : <Loading />}
    </>
  );
}

function Shown({ detail, route }: { detail: RecordDetail; route: Route }) {
  const { item } = detail;
  const { project } = usePage();
  const file: Field[] = detail.path ? [{ name: "file", value: detail.path, as: "path" }] : [];
  const kept = [...file, ...detail.fields.filter(({ name, value }) => name !== LEFT_OUT && (name !== "stage" || value !== item.stage))];
  const left = Number(detail.fields.find((field) => field.name === LEFT_OUT)?.value) || 0;
  return (
    <article class="record" data-ref={item.ref}>
      <RecordHead detail={detail} />
      <div class="record-body">
        {detail.superseded_by ? (
          <aside class="superseded" aria-label="Superseded">
            <p>This record was superseded by:</p>
            <ItemRow item={detail.superseded_by} />
          </aside>
        ) : null}
        <Contested contested={detail.contested} refText={item.ref} />
        {detail.body.trim() === item.title ? null : detail.prose.length ? (
          <Prose tree={detail.prose} />
        ) : (
          <p class="prose plain">{detail.body || <i>No text.</i>}</p>
        )}
        <Cut detail={detail} />
        {detail.verdict ? (
          <VerdictPanel refText={item.ref} verdict={detail.verdict} open={route.query.get("anchor") ?? ""} />
        ) : null}
        <Relations relations={detail.relations} left={left} whole={route.query.get("relations") === "all"} />
        <Evidence evidence={detail.evidence} />
      </div>
      <aside class="record-side" aria-label="About this record">
        <a class="to-graph" href={href(project, "graph", "", { focus: item.ref })}>
          Show in graph
        </a>
        {item.tags.length ? (
          <section>
            <h2>Tags</h2>
            <div class="chips">
              {item.tags.map((tag) => (
                <span key={tag} class="tag">
                  {tag}
                </span>
              ))}
            </div>
          </section>
        ) : null}
        {detail.anchors.length && !detail.verdict ? (
          <section>
            <h2>Anchors</h2>
            <ul class="paths">
              {detail.anchors.map((anchor) => (
                <li key={anchor}>
                  <code>{anchor}</code>
                </li>
              ))}
            </ul>
          </section>
        ) : null}
        {detail.provenance.length ? (
          <section>
            <h2>Origin</h2>
            <Facts fields={detail.provenance} />
          </section>
        ) : null}
        {kept.length ? (
          <section>
            <h2>Details</h2>
            <Facts fields={kept} />
          </section>
        ) : null}
      </aside>
      <Past
        refText={item.ref}
        open={route.query.get("commit") ?? ""}
        titles={titlesOf(detail)}
        whole={route.query.get("past") === "all"}
      />
    </article>
  );
}

function titlesOf({ relations, superseded_by }: RecordDetail): Map<string, string> {
  const known = [superseded_by, ...relations.map(({ other }) => other)].filter((item) => item !== null);
  return new Map(known.map(({ ref, title }) => [ref, title]));
}

/** Values that branches gave the same field: all of them, until someone decides. */
function Contested({ contested, refText }: { contested: RecordDetail["contested"]; refText: string }) {
  if (!contested.length) return null;
  return (
    <aside class="contested" aria-label="Branches disagree">
      <p>Branches disagree. The first value is used until someone decides.</p>
      <dl>
        {contested.map(({ field, values }) => (
          <div key={field}>
            <dt>{field.replaceAll("_", " ")}</dt>
            <dd>
              {values.map((value, number) => (
                <span key={number}>
                  {number ? <i class="faint"> or </i> : null}
                  <b>{value}</b>
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p class="faint small">
        <code>memory resolve {refText}</code> settles it; so does an edit of the record.
      </p>
    </aside>
  );
}

/** A text that is too long to be set is shown as it is written, and only its beginning. */
function Cut({ detail }: { detail: RecordDetail }) {
  const [first] = detail.prose;
  const [start] = Array.isArray(first) && first[0] === "pre" && detail.prose.length === 1 ? first[2] : [];
  if (typeof start !== "string" || start.length >= detail.body.length) return null;
  return (
    <p class="faint small" role="note">
      This is a long text: {number(start.length)} of its {number(detail.body.length)} characters are shown.
      {detail.path ? " The file has the whole text." : ""}
    </p>
  );
}

/** The words of a ref make a question, for whoever followed an old link. */
function Missing({ refText, why }: { refText: string; why: string }) {
  const { project } = usePage();
  const words = refText
    .replace(/^[a-z]+[.:]/i, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(" ");
  return (
    <>
      <div class="screen-head">
        <h1>There is no such record.</h1>
      </div>
      <p>
        There is no record <code>{refText}</code>. It may have been renamed or taken out, or stand in another project.
      </p>
      {why ? (
        <p class="faint">
          <Ticked text={why} />
        </p>
      ) : null}
      {words ? (
        <p>
          <a href={href(project, "search", "", { q: words })}>Search for “{words}”</a>
        </p>
      ) : null}
    </>
  );
}
