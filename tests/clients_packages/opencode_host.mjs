// Stands in for opencode: loads a plugin, calls its hooks in order, and prints what they made of their outputs.
import { openSync } from "node:fs"
import { pathToFileURL } from "node:url"

const { plugin, directory, steps, crowded } = JSON.parse(process.argv[2])
const module = await import(pathToFileURL(plugin).href)
const makers = Object.values(module).filter((value) => typeof value === "function")
const hooks = await makers[0]({ directory, worktree: directory, project: {}, client: {} })
if (crowded) {
  // Until no file can be opened any more, and no program be started.
  try {
    for (;;) openSync("/dev/null")
  } catch {}
}
const made = []
for (const { hook, input, output, pause } of steps) {
  const begun = performance.now()
  const returned = await hooks[hook](input, output)
  made.push({ output, returned: returned === undefined, ms: performance.now() - begun })
  if (pause) await new Promise((resolve) => setTimeout(resolve, pause))
}
process.stdout.write(JSON.stringify({ exports: Object.keys(module), hooks: Object.keys(hooks), made }))
