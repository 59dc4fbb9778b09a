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
  const found = data.findings.length + data.more;
  return (
    <div class="pad review">
      <p>
        <b>{data.files || data.outcome !== "passed" ? OUTCOMES[data.outcome] : "Nothing to review."}</b>{" "}
        <Ticked text={data.reason || lookedAt(data, found)} />
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
      {data.more ? <p class="faint">{counted(data.more, "more finding")}. <code>memory review</code> lists all.</p> : null}
    </div>
  );
}

function lookedAt({ change, files, records }: ReviewedBranch, found: number): string {
  const name = change.replace(/^(the branch) (.+)$/, "$1 `$2`");
  if (!files) return `${capital(name)} changes no file that the default branch does not have.`;
  const said = found ? counted(found, "finding") : "no findings";
  return `${capital(name)} changes ${counted(files, "file")}. Compared with ${counted(records, "record")}: ${said}.`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
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
