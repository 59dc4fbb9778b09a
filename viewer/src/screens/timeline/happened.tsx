/** What happened, as a list: the newest first, day by day, so much of it as one reads at a time. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { moveInList } from "../../app/keys.ts";
import { recordHref } from "../../app/router.ts";
import { usePage } from "../../data/use.ts";
import { number } from "../../parts/counted.ts";
import { clock, localDay, longDate } from "../../parts/charts/time.ts";
import { grouped } from "../../parts/grouped.ts";
import { Empty } from "../../parts/states.tsx";
import { exact } from "../../parts/times.tsx";
import type { Timed } from "./lanes.ts";

const PAGE = 150;

/** `marks` the oldest first; `untold` is how many more there are that the page was not told of. */
export function Happened({ marks, untold }: { marks: Timed[]; untold: number }) {
  const [shown, setShown] = useState(PAGE);
  const list = useRef<HTMLDivElement>(null);
  const key = `${marks.length} ${marks[0]?.at} ${marks[marks.length - 1]?.at}`;
  useEffect(() => setShown(PAGE), [key]);
  const days = useMemo(() => grouped(marks.slice(-shown).reverse(), (mark) => localDay(mark.time)), [marks, shown]);
  const left = marks.length - shown;
  if (!marks.length) {
    if (untold) return <Untold many={untold} />;
    return <Empty title="Nothing in this range.">Choose a longer range, or more kinds.</Empty>;
  }
  return (
    <div ref={list} onKeyDown={(event) => moveInList(event, list.current!)}>
      {days.map(([day, some]) => (
        <section key={day} class="day" aria-label={longDate(some[0]!.time)}>
          <h3>
            {longDate(some[0]!.time)} {some.length > 1 ? <span class="count">{number(some.length)}</span> : null}
          </h3>
          <ul class="happened">
            {some.map((mark, number) => (
              <li key={`${mark.at} ${mark.lane} ${number}`} class={`lane-${mark.lane}`}>
                <Row mark={mark} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {left > 0 ? (
        <p class="more">
          <button onClick={() => setShown(shown + PAGE)}>Show more</button>{" "}
          <span class="faint">{number(left)} earlier</span>
        </p>
      ) : untold ? (
        <Untold many={untold} />
      ) : null}
    </div>
  );
}

function Untold({ many }: { many: number }) {
  return <p class="more faint">{number(many)} more in this range are too old to be listed.</p>;
}

/** What kind of thing it is: of a record the beginning of its ref. */
function kindOf({ lane, ref }: Timed): string {
  return lane === "record" && ref ? ref.split(".")[0]! : lane;
}

/** Whatever leads nowhere can still be reached: a list is read from end to end. */
function Row({ mark }: { mark: Timed }) {
  const { project } = usePage();
  const inner = (
    <>
      <time dateTime={mark.at} title={exact(mark.at)}>
        {clock(mark.time)}
      </time>
      <span class="lane-name">{kindOf(mark)}</span>
      <span class="lane-title">{mark.title}</span>
      {mark.kind && mark.kind !== mark.lane ? <span class="faint small">{mark.kind.replaceAll("_", " ")}</span> : null}
      {mark.commit ? <code class="faint">{mark.commit.slice(0, 7)}</code> : null}
    </>
  );
  if (!mark.ref) {
    return (
      <span class="happening" data-row tabIndex={-1}>
        {inner}
      </span>
    );
  }
  return (
    <a class="happening" href={recordHref(project, mark.ref)} data-row data-ref={mark.ref}>
      {inner}
    </a>
  );
}
