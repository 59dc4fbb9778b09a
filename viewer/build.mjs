/** Makes the page of its sources: one script, one style, one worker, no file from anywhere else.
 *
 *  node build.mjs [folder]     (the package's own folder where none is named)
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "src", "quire", "surfaces", "web", "static");

const made = new Map();

const shared = {
  bundle: true,
  minify: true,
  target: ["es2022"],
  format: "iife",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  absWorkingDir: here,
  logLevel: "warning",
  outdir: out,
  write: false,
};
for (const entryPoints of [
  { app: "src/main.tsx" },
  { layout: "src/screens/graph/worker.ts" },
  { style: "src/style/main.css" },
]) {
  for (const file of (await build({ ...shared, entryPoints })).outputFiles) made.set(basename(file.path), file.contents);
}
for (const name of ["index.html", "icon.svg"]) made.set(name, readFileSync(join(here, "src", name)));

// What the page is made of comes with its licences.
const parts = ["preact", "d3-force", "d3-hierarchy", "d3-dispatch", "d3-quadtree", "d3-timer"];
const notices = parts.map((name) => {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), "utf8").trim() : ""}\n`;
});
made.set("licences.txt", notices.join(`\n${"-".repeat(72)}\n\n`));

const files = {};
for (const [name, data] of [...made].sort(([a], [b]) => (a < b ? -1 : 1))) {
  files[name] = { bytes: Buffer.byteLength(data), compressed: gzipSync(data, { level: 9 }).length };
}
made.set("build.json", JSON.stringify({ sources: digest(), files }, null, 2) + "\n");

// Each file is whole at every moment: a page may be started while another is built. What is built is said last.
mkdirSync(out, { recursive: true });
for (const [name, data] of made) {
  writeFileSync(join(out, `${name}.new`), data);
  renameSync(join(out, `${name}.new`), join(out, name));
}
for (const name of readdirSync(out)) if (!made.has(name)) rmSync(join(out, name), { recursive: true });

/** What the sources are, in short: whoever builds the package can tell whether this has to be made again. */
function digest() {
  const sum = createHash("sha256");
  const walk = (folder) =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? walk(join(folder, entry.name)) : [join(folder, entry.name)],
    );
  const named = ["build.mjs", "package.json", "package-lock.json"].map((name) => join(here, name));
  const all = [...named, ...walk(join(here, "src"))].map((path) => [relative(here, path).split("\\").join("/"), path]);
  for (const [name, path] of all.sort(([a], [b]) => (a < b ? -1 : 1))) {
    sum.update(name).update("\0").update(readFileSync(path)).update("\0");
  }
  return sum.digest("hex");
}
