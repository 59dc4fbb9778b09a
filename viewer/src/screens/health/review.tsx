/** What the branch means for the records: the findings of `memory review`, by their codes. */
import type { Finding, ReviewedBranch } from "../../data/types.ts";
import { useProjectData } from "../../data/use.ts";
import { counted } from "../../parts/counted.ts";
import { RefLink } from "../../parts/items.tsx";
import { Answered } from "../../parts/states.tsx";
import { Ticked } from "../../parts/ticked.tsx";

const OUTCOMES = { passed: "Ready to merge.", blocked: "Not ready to merge.", "not checked": "Not checked." };

export function ReviewPart() {
  const asked = useProjectData<ReviewedBranch>("health/review");
  return <Answered asked={asked}>{(data) => <Shown data={data} />}</Answered>;
}

function Shown({ data }: { data: ReviewedBranch }) {
  const codes = [...new Set(data.findings.map(({ code }) => code))];
  const looked = `${counted(data.files, "changed file")}, ${counted(data.records, "record")}`;
  const found = data.findings.length + data.more;
  return (
    <div class="pad review">
      <p>
        <b>{OUTCOMES[data.outcome]}</b> {data.reason || `In ${data.change}: ${looked}, ${found ? counted(found, "finding") : "no findings"}.`}
      </p>
      {codes.map((code) => (
        <section key={code} aria-label={code}>
          <h3>
            <code>{code}</code> {data.titles[code] ?? ""}
          </h3>
          <ul class="rows" aria-label={data.titles[code] ?? code}>
            {data.findings
              .filter((finding) => finding.code === code)
              .map((finding, at) => (
                <li key={at}>
                  <FindingRow finding={finding} />
                </li>
              ))}
          </ul>
        </section>
      ))}
      {data.more ? <p class="faint">{counted(data.more, "more finding")}: memory review shows all.</p> : null}
    </div>
  );
}

function FindingRow({ finding }: { finding: Finding }) {
  return (
    <div class="row">
      <span class="row-head">
        <span class="tag">{finding.waived ? "waived" : finding.level}</span>{" "}
        {finding.ref ? <RefLink refText={finding.ref} title={finding.title || finding.ref} /> : null}
      </span>
      <span class="row-text"><Ticked text={finding.message} /></span>
      {finding.details.map((text) => (
        <span key={text} class="row-text">{text}</span>
      ))}
      <span class="row-why">
        <code>{`${finding.path}:${finding.line}`}</code> {finding.owners.join(" ")} {finding.waived}
      </span>
    </div>
  );
}
