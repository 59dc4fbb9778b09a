/** Yes or no to what sessions and imports propose. */
import { useState } from "preact/hooks";
import type { Proposal } from "../../data/types.ts";
import { useMayWrite } from "../../data/use.ts";
import { afterwards, AskingDialog } from "./asking.tsx";
import { useSend } from "./send.ts";

interface About {
  proposal: Proposal;
  onDone?: () => void;
}

const NAME_CHARS = 80;

export function AcceptButton({ proposal, onDone }: About) {
  const may = useMayWrite();
  const { busy, send } = useSend();
  if (!may) return null;
  const accept = async () => {
    if (await send({ action: "accept", id: proposal.id })) afterwards(onDone);
  };
  return (
    <button
      data-act="accept"
      aria-disabled={busy}
      aria-busy={busy}
      aria-label={`Accept: ${named(proposal)}`}
      onClick={() => void accept()}
    >
      Accept
    </button>
  );
}

export function RejectButton({ proposal, onDone }: About) {
  const may = useMayWrite();
  const [open, setOpen] = useState(false);
  if (!may) return null;
  return (
    <>
      <button
        class="quiet"
        data-act="reject"
        aria-haspopup="dialog"
        aria-label={`Reject: ${named(proposal)}`}
        onClick={() => setOpen(true)}
      >
        Reject
      </button>
      {open ? <RejectDialog proposal={proposal} onDone={onDone} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function RejectDialog({ proposal, onDone, onClose }: About & { onClose: () => void }) {
  const [reason, setReason] = useState("");
  const { busy, refused, send } = useSend(true);
  const reject = async () => {
    const why = reason.trim();
    if (!(await send({ action: "reject", id: proposal.id, ...(why ? { reason: why } : {}) }))) return;
    onClose();
    afterwards(onDone);
  };
  return (
    <AskingDialog
      title="Reject"
      verb="Reject"
      danger
      ready
      busy={busy}
      refused={refused}
      onDo={() => void reject()}
      onClose={onClose}
    >
      <p class="about">{proposal.text}</p>
      <label>
        Reason (optional)
        <input value={reason} autofocus onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      <p class="faint small">
        The text is refused from now on, whoever writes it, until <code>memory inbox lift</code>.
      </p>
    </AskingDialog>
  );
}

function named(proposal: Proposal): string {
  return proposal.text.length > NAME_CHARS ? `${proposal.text.slice(0, NAME_CHARS)}…` : proposal.text;
}
