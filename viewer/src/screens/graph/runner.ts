/** Has the layout made: in a worker, or, where there is none to be had, on the page itself in small pieces. */
import { Layout, type LayoutInput } from "./layout.ts";
import type { Answer, Told } from "./worker.ts";

const SCRIPT = "layout.js";
/** On the page itself: with the piece that was begun last less than half a frame, so that it stays quick. */
const SLICE_MS = 5;

export interface Runner {
  start(input: LayoutInput): void;
  hold(node: number, x: number, y: number): void;
  release(node: number): void;
  end(): void;
}

export type Heard = (positions: Float32Array, settled: boolean) => void;

interface Policy {
  createScriptURL(url: string): unknown;
}
interface Policies {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): Policy;
}

let policy: Policy | null = null;

/** The only script that the page ever starts by name. */
function scriptUrl(): string {
  const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes;
  if (!policies) return SCRIPT;
  policy ??= policies.createPolicy("quire", {
    createScriptURL: (url) => {
      if (url !== SCRIPT) throw new TypeError("No such script.");
      return url;
    },
  });
  return policy.createScriptURL(SCRIPT) as string;
}

export function runner(heard: Heard): Runner {
  let id = 0;
  let input: LayoutInput | null = null;
  let aside: Worker | null = null;
  let here: Here | null = null;

  const fallBack = () => {
    aside?.terminate();
    aside = null;
    here ??= new Here(heard);
    if (input) here.start(input);
  };
  try {
    aside = new Worker(scriptUrl());
    aside.onmessage = ({ data }: MessageEvent<Answer>) => data.id === id && heard(data.positions, data.settled);
    // A page from a file may not start one, and some browsers say so only now.
    aside.onerror = fallBack;
  } catch {
    fallBack();
  }
  const tell = (told: Told) => aside?.postMessage(told);
  return {
    start(given) {
      input = given;
      id++;
      if (here) here.start(given);
      else tell({ do: "start", id, input: given });
    },
    hold(node, x, y) {
      here?.hold(node, x, y);
      tell({ do: "hold", id, node, x, y });
    },
    release(node) {
      here?.release(node);
      tell({ do: "release", id, node });
    },
    end() {
      aside?.terminate();
      here?.end();
    },
  };
}

/** The same layout on the page itself. */
class Here {
  private heard: Heard;
  private layout: Layout | null = null;
  private frame = 0;

  constructor(heard: Heard) {
    this.heard = heard;
  }

  start(input: LayoutInput): void {
    this.layout = new Layout(input);
    this.go();
  }

  hold(node: number, x: number, y: number): void {
    this.layout?.hold(node, x, y);
    this.go();
  }

  release(node: number): void {
    this.layout?.release(node);
    this.go();
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.layout = null;
  }

  private go(): void {
    if (this.frame || !this.layout) return;
    this.heard(this.layout.positions(), this.layout.settled);
    this.frame = requestAnimationFrame(this.slice);
  }

  private slice = (): void => {
    this.frame = 0;
    if (!this.layout) return;
    const began = performance.now();
    this.layout.run(() => performance.now() - began > SLICE_MS);
    this.heard(this.layout.positions(), this.layout.settled);
    if (!this.layout.settled) this.frame = requestAnimationFrame(this.slice);
  };
}
