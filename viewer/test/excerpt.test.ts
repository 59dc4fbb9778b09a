/** What of an excerpt says more than the title above it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { beyondTitle } from "../src/parts/excerpt.ts";

test("an excerpt goes on where the title ends", () => {
  assert.equal(beyondTitle({ title: "Asked: why…", excerpt: "Asked: why is it slow? Result: fixed." }), "…is it slow? Result: fixed.");
  assert.equal(beyondTitle({ title: "Compare beams", excerpt: "Compare beams Why: left open" }), "Why: left open");
  assert.equal(beyondTitle({ title: "A boat is shor…", excerpt: "A boat is short and wide" }), "…short and wide");
  assert.equal(beyondTitle({ title: "One bill", excerpt: "One bill." }), "");
  assert.equal(beyondTitle({ title: "Holds", excerpt: "A hold ends by itself." }), "A hold ends by itself.");
  assert.equal(beyondTitle({ title: "", excerpt: "Text" }), "Text");
});
