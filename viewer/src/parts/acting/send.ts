/** Doing something once: not twice while it is on its way, and what went wrong is known where it was asked. */
import { useRef, useState } from "preact/hooks";
import { useActing } from "../../app/toasts.tsx";
import type { Failure } from "../../data/source.ts";
import type { Act } from "../../data/types.ts";

export interface Sending {
  busy: boolean;
  /** Why the last try came to nothing. */
  refused: Failure | null;
  send: (what: Act) => Promise<boolean>;
}

/** Whoever is busy is not disabled: that would take the keyboard away from it.
 *
 *  A dialog shows by itself what went wrong; everything else leaves that to the edge of the page.
 */
export function useSend(inDialog = false): Sending {
  const { act } = useActing();
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Failure | null>(null);
  const under = useRef(false);
  async function send(what: Act): Promise<boolean> {
    if (under.current) return false;
    under.current = true;
    setBusy(true);
    setRefused(null);
    const failure = await act(what, inDialog);
    under.current = false;
    setBusy(false);
    setRefused(failure);
    return failure === null;
  }
  return { busy, refused, send };
}
