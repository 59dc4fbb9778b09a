/** The head of a record: what it is called, what it is, and what may be done with it. */
import { focusPage } from "../../app/keys.ts";
import type { RecordDetail } from "../../data/types.ts";
import { useMayWrite } from "../../data/use.ts";
import { ConfirmButton, EditButton, StageSelect, StaleButton, SupersedeButton } from "../../parts/acting.tsx";
import { Kind, StageMark, Status, Verdict } from "../../parts/badges.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { Ago } from "../../parts/times.tsx";

/** What has no title of its own is called by its first words: a sentence, set smaller than a name. */
const LONG = 64;

export function RecordHead({ detail }: { detail: RecordDetail }) {
  const { item } = detail;
  return (
    <header class="record-head">
      <p class="record-marks">
        <Kind kind={item.kind} />
        {item.layer === "graph" || item.layer === `${item.kind}s` ? null : <span class="tag">{item.layer}</span>}
        {item.section ? <span class="tag">{item.section.replaceAll("_", " ")}</span> : null}
        <StageMark stage={item.stage} />
        <Status status={item.status} live={item.live} />
        <Verdict verdict={item.verdict} because={item.because} />
        <span class="faint small">
          updated <Ago time={item.updated_at} />
        </span>
      </p>
      <div class="screen-head">
        <h1 class={item.title.length > LONG ? "long" : ""}>{item.title}</h1>
      </div>
      <p class="record-name">
        <Copyable text={item.ref} what="the ref" />
      </p>
      <Doing detail={detail} />
    </header>
  );
}

function Doing({ detail }: { detail: RecordDetail }) {
  const write = useMayWrite();
  const { item, may } = detail;
  if (!write || !may.length) return null;
  return (
    <div class="record-act" role="group" aria-label="What may be done">
      {may.includes("confirm") ? <ConfirmButton item={item} /> : null}
      {may.includes("edit") ? <EditButton detail={detail} /> : null}
      {may.includes("stage") ? <StageSelect item={item} revision={detail.revision} /> : null}
      {may.includes("supersede") ? <SupersedeButton item={item} onDone={focusPage} /> : null}
      {may.includes("stale") ? <StaleButton item={item} onDone={focusPage} /> : null}
    </div>
  );
}
