/** Each text of a proposal stands once, and whole. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Proposal } from "../src/data/types.ts";
import { repeats, wordingOf } from "../src/screens/inbox/wording.ts";

function proposal(text: string, fields: Record<string, string>): Proposal {
  const listed = Object.entries(fields).map(([name, value]) => ({ name, value }));
  return {
    id: "in-1",
    into: "graph",
    kind: "decision",
    text,
    origin: "session:claude:1",
    source: "session",
    by: "user",
    proposed_at: "",
    evidence: [],
    fields: listed,
    standing: "",
    said: "",
    updates: "",
  };
}

test("a sentence that begins with the title is shown whole, without a heading", () => {
  const text = "Settings live in the environment, because configuration must not live in code";
  const shown = wordingOf(proposal(text, { kind: "decision", title: "Settings live in the environment", body: `${text}.` }));
  assert.deepEqual(shown, { heading: "", text, fields: [], origin: "session:claude:1" });
});

test("a title on a line of its own is the heading", () => {
  const fields = { title: "Retries", body: "Context: it blocks.", anchors: "src/a.py" };
  const shown = wordingOf(proposal("Retries\n\nContext: it blocks.", fields));
  assert.deepEqual(shown, {
    heading: "Retries",
    text: "Context: it blocks.",
    fields: [{ name: "anchors", value: "src/a.py" }],
    origin: "session:claude:1",
  });
});

test("a title that the text does not begin with stands above it", () => {
  assert.equal(wordingOf(proposal("They run in the worker.", { title: "Retries" })).heading, "Retries");
  const cut = wordingOf(proposal("Retries run in the worker, and never in the request.", { title: "Retries run in…" }));
  assert.equal(cut.heading, "");
});

test("a quote that is the text says nothing new", () => {
  assert.ok(repeats("we use **Postgres**…", "We use Postgres, as before."));
  assert.ok(!repeats("We use Post", "We use Postgres, as before."));
  assert.ok(!repeats("", "We use Postgres."));
});

test("an origin that a quote names stands once", () => {
  const said = proposal("Retries are bounded", {});
  const quoted = (origin: string, where: string) =>
    wordingOf({ ...said, origin, evidence: [{ quote: "", by: "agent", where, at: "" }] }).origin;
  assert.equal(quoted("session:claude:5f0c2a7e-9b1d-4c3e", "claude session 5f0c2a7e, turn 4"), "");
  assert.equal(quoted("file:docs/adr/0001.md", "docs/adr/0001.md:1"), "");
  assert.equal(quoted("git:0123456789ab", "notes.txt"), "git:0123456789ab");
});
