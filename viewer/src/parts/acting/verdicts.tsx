/** After a look at the code: it still holds, or it no longer does. */
import { useState } from "preact/hooks";
import type { Item } from "../../data/types.ts";
import { useMayWrite } from "../../data/use.ts";
import { afterwards, AskingDialog } from "./asking.tsx";
import { useSend } from "./send.ts";

interface About {
  item: Item;
  onDone?: () => void;
}

/** Where its code is gone there is nothing that a record could be confirmed against. */
export function ConfirmButton({ item, onDone }: About) {
  const may = useMayWrite() && item.verdict !== "orphaned";
  const { busy, send } = useSend();
  if (!may) return null;
  const confirm = async () => {
    if (await send({ action: "confirm", ref: item.ref })) afterwards(onDone);
  };
  return (
    <button
      data-act="confirm"
      aria-disabled={busy}
      aria-busy={busy}
      aria-label={`Confirm ${item.title}`}
      title="I checked the code: the record is still correct"
      onClick={() => void confirm()}
    >
      Confirm
    </button>
  );
}

export function StaleButton({ item, onDone }: About) {
  const may = useMayWrite();
  const [open, setOpen] = useState(false);
  if (!may) return null;
  return (
    <>
      <button
        data-act="stale"
        aria-label={`Stale: ${item.title}`}
        aria-haspopup="dialog"
        title="It is no longer true"
        onClick={() => setOpen(true)}
      >
        Stale
      </button>
      {open ? <StaleDialog item={item} onDone={onDone} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function StaleDialog({ item, onDone, onClose }: About & { onClose: () => void }) {
  const [reason, setReason] = useState("");
  const { busy, refused, send } = useSend(true);
  const mark = async () => {
    if (!(await send({ action: "stale", ref: item.ref, reason: reason.trim() }))) return;
    onClose();
    afterwards(onDone);
  };
  return (
    <AskingDialog
      title="Mark as stale"
      verb="Mark as stale"
      danger
      ready={reason.trim() !== ""}
      busy={busy}
      refused={refused}
      onDo={() => void mark()}
      onClose={onClose}
    >
      <p class="about">{item.title}</p>
      <label>
        Why is it no longer true?
        <input value={reason} autofocus required onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      <p class="faint small">It stays in the files with this reason. Agents no longer get it.</p>
    </AskingDialog>
  );
}
