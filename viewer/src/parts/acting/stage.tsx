/** How far a feature is, to be changed in place. */
import { useState } from "preact/hooks";
import { useActing } from "../../app/toasts.tsx";
import { failureOf, projectPath, source } from "../../data/source.ts";
import type { Item, RecordDetail, Stage } from "../../data/types.ts";
import { useMayWrite, usePage } from "../../data/use.ts";

const STAGES: Stage[] = ["idea", "building", "shipped", "paused", "dead"];

/** Without a revision the record is asked for first: a list does not know it. */
export function StageSelect({ item, revision }: { item: Item; revision?: string }) {
  const may = useMayWrite();
  const { project } = usePage();
  const { act, say } = useActing();
  const [wanted, setWanted] = useState<Stage | null>(null);
  if (!may || item.layer !== "graph" || item.kind !== "feature") return null;
  const move = async (stage: Stage) => {
    if (wanted !== null) return;
    setWanted(stage);
    try {
      const made = revision ?? (await storedRevision(project, item.ref));
      await act({ action: "edit", ref: item.ref, revision: made, stage });
    } catch (error) {
      const { message, hint } = failureOf(error);
      say(message, true, hint);
    }
    setWanted(null);
  };
  return (
    <select
      class="stage-select"
      data-act="stage"
      aria-label={`Stage of ${item.title}`}
      aria-busy={wanted !== null}
      aria-disabled={wanted !== null}
      value={wanted ?? item.stage ?? "idea"}
      onChange={(event) => void move(event.currentTarget.value as Stage)}
    >
      {STAGES.map((stage) => (
        <option key={stage} value={stage}>
          {stage}
        </option>
      ))}
    </select>
  );
}

async function storedRevision(project: string, ref: string): Promise<string> {
  return (await source().get<RecordDetail>(projectPath(project, "record"), { ref })).revision;
}
