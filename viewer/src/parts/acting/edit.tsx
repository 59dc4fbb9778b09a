/** Title and text of a record, to be written anew. What someone wrote is never lost to a change from elsewhere. */
import { useState } from "preact/hooks";
import { projectPath, source } from "../../data/source.ts";
import type { RecordDetail } from "../../data/types.ts";
import { useMayWrite, usePage } from "../../data/use.ts";
import { afterwards, AskingDialog } from "./asking.tsx";
import { useSend } from "./send.ts";

interface About {
  detail: RecordDetail;
  onDone?: () => void;
}

export function EditButton({ detail, onDone }: About) {
  const may = useMayWrite();
  const [open, setOpen] = useState(false);
  if (!may) return null;
  return (
    <>
      <button data-act="edit" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Edit
      </button>
      {open ? <EditDialog detail={detail} onDone={onDone} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function EditDialog({ detail, onDone, onClose }: About & { onClose: () => void }) {
  const { project } = usePage();
  // What the text was made of; the record may change on disk while someone writes.
  const [base, setBase] = useState(detail);
  const [stored, setStored] = useState<RecordDetail | null>(null);
  const [title, setTitle] = useState(detail.item.title);
  const [body, setBody] = useState(detail.body);
  const [leaving, setLeaving] = useState(false);
  const { busy, refused, send } = useSend(true);

  const other = stored ?? detail;
  const conflict = other.revision !== base.revision;
  const changes = {
    ...(title.trim() !== base.item.title ? { title: title.trim() } : {}),
    ...(body !== base.body ? { body } : {}),
  };
  const changed = Object.keys(changes).length > 0;

  const save = async () => {
    const revision = conflict ? other.revision : base.revision;
    if (await send({ action: "edit", ref: base.item.ref, revision, ...changes })) {
      onClose();
      return afterwards(onDone);
    }
    // A refusal may be because of a change that this page has not heard of yet.
    const path = projectPath(project, "record");
    const now = await source().get<RecordDetail>(path, { ref: base.item.ref }).catch(() => null);
    if (now && now.revision !== revision) setStored(now);
  };
  const takeStored = () => {
    setBase(other);
    setTitle(other.item.title);
    setBody(other.body);
  };
  const close = () => (changed && !leaving ? setLeaving(true) : onClose());
  return (
    <AskingDialog
      title={`Edit ${base.item.kind}`}
      verb={conflict ? "Overwrite with mine" : "Save"}
      wide
      ready={changed && title.trim() !== ""}
      busy={busy}
      refused={conflict ? null : refused}
      onDo={() => void save()}
      onClose={close}
    >
      {conflict ? <Meanwhile stored={other} onTake={takeStored} /> : null}
      <label>
        Title
        <input value={title} autofocus required onInput={(event) => setTitle(event.currentTarget.value)} />
      </label>
      <label>
        Text (Markdown)
        <textarea rows={14} value={body} spellcheck onInput={(event) => setBody(event.currentTarget.value)} />
      </label>
      {leaving ? (
        <p class="refusal" role="alert">
          Your text is not saved. Cancel again to discard it, or{" "}
          <button type="button" class="as-link" onClick={() => setLeaving(false)}>
            go on writing
          </button>
          .
        </p>
      ) : null}
    </AskingDialog>
  );
}

function Meanwhile({ stored, onTake }: { stored: RecordDetail; onTake: () => void }) {
  return (
    <div class="meanwhile" role="alert">
      <p>
        <strong>The record changed in the meantime.</strong> Your text is kept below; nothing was overwritten.
      </p>
      <details>
        <summary>What is stored now</summary>
        <p class="about">{stored.item.title}</p>
        <pre>{stored.body}</pre>
      </details>
      <button type="button" onClick={onTake}>
        Use the stored version
      </button>
    </div>
  );
}
