/** What stands where there is nothing to show yet, nothing at all, or something wrong. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Failure } from "../data/source.ts";
import type { Asked } from "../data/use.ts";
import { Ticked } from "./ticked.tsx";

/** After a second it says in words what it waits for. */
export function Loading({ what = "Reading the memory and comparing it with the code" }: { what?: string }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 1000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" role="status">
      <span class={slow ? "faint small" : "visually-hidden"}>{what}…</span>
      <i />
      <i />
      <i />
    </div>
  );
}

export function Failed({ error, again }: { error: Failure; again?: () => void }) {
  return (
    <div class="failed" role="alert">
      <strong>
        <Ticked text={error.message} />
      </strong>
      {error.hint ? (
        <p>
          <Ticked text={error.hint} />
        </p>
      ) : null}
      {again ? <button onClick={again}>Try again</button> : null}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children ? <p>{children}</p> : null}
    </div>
  );
}

/** What was asked for, or why it is not there. Old data stays while new is on its way. */
export function Answered<T>({ asked, children }: { asked: Asked<T>; children: (data: T) => ComponentChildren }) {
  if (asked.data)
    return (
      <>
        {asked.error ? <Failed error={asked.error} again={asked.again} /> : null}
        {children(asked.data)}
      </>
    );
  if (asked.error) return <Failed error={asked.error} again={asked.again} />;
  return <Loading />;
}
