/** Another record replaces it: a record that is there, or a new one. */
import { useState } from "preact/hooks";
import type { Item } from "../../data/types.ts";
import { useMayWrite } from "../../data/use.ts";
import { afterwards, AskingDialog } from "./asking.tsx";
import { RecordPicker } from "./picker.tsx";
import { useSend } from "./send.ts";

interface About {
  item: Item;
  onDone?: () => void;
}

export function SupersedeButton({ item, onDone }: About) {
  const may = useMayWrite();
  const [open, setOpen] = useState(false);
  if (!may) return null;
  return (
    <>
      <button
        data-act="supersede"
        aria-haspopup="dialog"
        aria-label={`Supersede ${item.title}`}
        title="Another record replaces it"
        onClick={() => setOpen(true)}
      >
        Supersede
      </button>
      {open ? <SupersedeDialog item={item} onDone={onDone} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function SupersedeDialog({ item, onDone, onClose }: About & { onClose: () => void }) {
  const [way, setWay] = useState<"there" | "new">("there");
  const [by, setBy] = useState<Item | null>(null);
  const [title, setTitle] = useState("");
  const [body, setBody] = useState("");
  const [reason, setReason] = useState("");
  const { busy, refused, send } = useSend(true);

  // A fact is its text: it has no title of its own.
  const titled = item.layer !== "facts";
  const ready = way === "there" ? by !== null : titled ? title.trim() !== "" : body.trim() !== "";
  const supersede = async () => {
    const written = titled ? { title: title.trim(), body } : { body };
    const instead = way === "there" ? { by: by!.ref } : written;
    const why = reason.trim();
    if (!(await send({ action: "supersede", ref: item.ref, ...instead, ...(why ? { reason: why } : {}) }))) return;
    onClose();
    afterwards(onDone);
  };
  return (
    <AskingDialog
      title="Supersede"
      verb="Supersede"
      ready={ready}
      busy={busy}
      refused={refused}
      onDo={() => void supersede()}
      onClose={onClose}
    >
      <p class="about">{item.title}</p>
      <fieldset class="ways">
        <legend>What replaces it?</legend>
        <label>
          <input type="radio" name="way" checked={way === "there"} onChange={() => setWay("there")} /> An existing record
        </label>
        <label>
          <input type="radio" name="way" checked={way === "new"} onChange={() => setWay("new")} /> A new one
        </label>
      </fieldset>
      {way === "there" ? (
        <RecordPicker like={item} chosen={by} onChoose={setBy} />
      ) : (
        <>
          {titled ? (
            <label>
              Title
              <input value={title} required onInput={(event) => setTitle(event.currentTarget.value)} />
            </label>
          ) : null}
          <label>
            Text (Markdown)
            <textarea rows={6} value={body} onInput={(event) => setBody(event.currentTarget.value)} />
          </label>
        </>
      )}
      <label>
        Reason (optional)
        <input value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
    </AskingDialog>
  );
}
