/** What agents were sent by hooks: how much of it, to whom, and what was told most. */
import { useMemo } from "preact/hooks";
import { choose } from "../../app/router.ts";
import type { ReceiptHealth } from "../../data/types.ts";
import { usePage, useProjectData } from "../../data/use.ts";
import { BarChart } from "../../parts/charts/bar-chart.tsx";
import { compact } from "../../parts/charts/numbers.ts";
import { counted, number } from "../../parts/counted.ts";
import { Amounts, StackedBar } from "../../parts/charts/stacked-bar.tsx";
import { utcDate } from "../../parts/charts/time.ts";
import { RefLink } from "../../parts/items.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import { Ago } from "../../parts/times.tsx";
import { AllOf, FIRST, type PartProps } from "./part.tsx";
import { AsTable, Table } from "./table.tsx";

const TOKENS = [{ name: "tokens", colour: "feature" }];
const FATES = [
  { name: "included", colour: "fresh" },
  { name: "trimmed", colour: "changed" },
  { name: "withheld", colour: "unverifiable" },
];

export function ReceiptsPart({ route, whole }: PartProps) {
  const asked = useProjectData<ReceiptHealth>("health/receipts");
  const byFate = route.query.get("show") === "records";
  return <Answered asked={asked}>{(data) => <Shown data={data} byFate={byFate} whole={whole} />}</Answered>;
}

function Shown({ data, byFate, whole }: { data: ReceiptHealth; byFate: boolean; whole: boolean }) {
  const { session } = usePage();
  const days = useMemo(
    () =>
      data.days.map((day) => ({
        day: day.day,
        values: byFate ? [day.included, day.trimmed, day.withheld] : [day.tokens],
      })),
    [data, byFate],
  );
  if (!data.answers && session.exported) {
    return (
      <Empty title="There are no receipts in this export.">
        They describe your sessions, so they are left out, unless <code>memory view --export</code> is given{" "}
        <code>--private</code>.
      </Empty>
    );
  }
  if (!data.answers) {
    return (
      <Empty title="Nothing was sent to an agent yet.">
        <code>memory integrate</code> connects your agents. From then on, each answer to an agent is listed here.
      </Empty>
    );
  }
  const sum = (of: "included" | "trimmed" | "withheld") => data.days.reduce((all, day) => all + day[of], 0);
  const fates = FATES.map((fate) => ({ ...fate, value: sum(fate.name as "included") }));
  return (
    <div class="pad">
      <ul class="figures plain" aria-label="Receipts">
        <li>
          <b>{compact(data.answers)}</b>
          <span>{data.answers === 1 ? "answer" : "answers"}</span>
        </li>
        <li>
          <b>{compact(data.tokens)}</b>
          <span>tokens</span>
        </li>
        <li>
          <b>{compact(Math.round(data.tokens / data.answers))}</b>
          <span>tokens an answer</span>
        </li>
        {fates.map((fate) => (
          <li key={fate.name} style={{ "--c": `var(--${fate.colour})` }}>
            <b>{compact(fate.value)}</b>
            <span>{fate.name}</span>
          </li>
        ))}
      </ul>
      <StackedBar label="Records" parts={fates} />
      {days.length ? (
        <>
          <div class="tree-head">
            <h3>{byFate ? "Records by day" : "Tokens by day"}</h3>
            <div class="chips" role="group" aria-label="What is counted">
              <button class="chip" aria-pressed={!byFate} onClick={() => choose({ show: "" })}>
                Tokens
              </button>
              <button class="chip" aria-pressed={byFate} onClick={() => choose({ show: "records" })}>
                Records
              </button>
            </div>
          </div>
          <BarChart
            days={days}
            series={byFate ? FATES : TOKENS}
            label={
              `${byFate ? "Records" : "Tokens"} by day, ${utcDate(Date.parse(days[0]!.day))} to ` +
              `${utcDate(Date.parse(days[days.length - 1]!.day))}. The same as a table below.`
            }
          />
          <AsTable
            heads={["Day", "Answers", "Tokens", "Included", "Trimmed", "Withheld"]}
            rows={data.days
              .map((day) => [
                utcDate(Date.parse(day.day)),
                ...[day.answers, day.tokens, day.included, day.trimmed, day.withheld].map(number),
              ])
              .reverse()}
          />
        </>
      ) : null}
      <div class="columns">
        <By label="By client" sums={data.by_client} />
        <By label="By event" sums={data.by_event} />
      </div>
      <MostTold told={data.most_told} whole={whole} />
      <Recent recent={data.recent} answers={data.answers} whole={whole} />
    </div>
  );
}

function By({ label, sums }: { label: string; sums: ReceiptHealth["by_client"] }) {
  const sorted = Object.entries(sums).sort(([, a], [, b]) => b.tokens - a.tokens);
  if (!sorted.length) return null;
  return (
    <section>
      <h3>{label}</h3>
      <Amounts
        label={label}
        amounts={sorted.slice(0, 12).map(([name, { answers, tokens }]) => ({
          key: name,
          name: name || "unknown",
          value: tokens,
          said: `${counted(answers, "answer")}, ${compact(tokens)} tokens`,
        }))}
      />
    </section>
  );
}

function MostTold({ told, whole }: { told: ReceiptHealth["most_told"]; whole: boolean }) {
  if (!told.length) return null;
  return (
    <>
      <h3>Sent most</h3>
      <Amounts
        label="Sent most"
        amounts={(whole ? told : told.slice(0, FIRST)).map((one) => ({
          key: one.ref,
          name: <RefLink refText={one.ref} title={one.title} />,
          value: one.times,
          said: `${number(one.times)}×, ${compact(one.tokens)} tokens`,
        }))}
      />
      <AllOf part="receipts" total={told.length} whole={whole} />
    </>
  );
}

function Recent({ recent, answers, whole }: { recent: ReceiptHealth["recent"]; answers: number; whole: boolean }) {
  if (!recent.length) return null;
  return (
    <>
      <h3>Recent</h3>
      <Table
        label="Recent receipts"
        text={[1, 2]}
        heads={["When", "Client", "Event", "Included", "Trimmed", "Withheld", "Tokens", "Budget", "ms"]}
        rows={(whole ? recent : recent.slice(0, FIRST)).map((one) => [
          <Ago time={one.at} />,
          <span title={one.session ? `Session ${one.session}` : undefined}>{one.client}</span>,
          <>
            {one.event}
            {one.note ? <span class="faint"> · {one.note}</span> : null}
          </>,
          <span title={`of ${number(one.considered)} considered`}>{number(one.included)}</span>,
          number(one.trimmed),
          number(one.withheld),
          number(one.tokens),
          one.budget ? number(one.budget) : "–",
          number(Math.round(one.milliseconds)),
        ])}
      />
      <AllOf part="receipts" total={recent.length} whole={whole} of={answers} />
    </>
  );
}
