/** What was shown last stays while another choice is on its way: a list that is filtered does not blink. */
import { useRef } from "preact/hooks";
import type { Asked } from "../data/use.ts";

export interface Kept<T> extends Asked<T> {
  /** Whether what is shown belongs to the choice before this one. */
  old: boolean;
}

export function useKept<T>(asked: Asked<T>): Kept<T> {
  const last = useRef<T | null>(null);
  if (asked.data) last.current = asked.data;
  const held = asked.loading ? last.current : null;
  return { ...asked, data: asked.data ?? held, old: !asked.data && held !== null };
}
