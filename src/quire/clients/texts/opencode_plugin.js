// Project memory for opencode: tells Quire what happens in a session, and passes on what its memory knows of it.
// Written by `memory integrate opencode`, which also takes it away again. It stops nothing and changes no tool's
// arguments; without the program `quire` it does nothing at all.
import { spawn } from "node:child_process"

const EDITS = new Set(["edit", "multiedit", "write", "patch", "apply_patch"])
const SECONDS = { "session-start": 5, prompt: 2, "before-edit": 2, "session-end": 3 }
const MOST_CHARS = 65536

// What the memory adds at an event: "" where it adds nothing, is slow, fails or is not installed.
const ask = (event, payload) =>
  new Promise((resolve) => {
    // A group of its own, so that whatever the program started ends with it.
    const options = { cwd: payload.directory, detached: true, stdio: ["pipe", "pipe", "ignore"] }
    const child = spawn("quire", ["hook", "opencode", event], options).on("error", () => resolve(""))
    const stop = () => {
      resolve("")
      try {
        process.kill(-child.pid, "SIGKILL")
      } catch {
        child.kill("SIGKILL")
      }
    }
    const timer = setTimeout(stop, 1000 * (SECONDS[event] ?? 5))
    let said = ""
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (more) => (said += more).length > MOST_CHARS && stop())
    child.on("close", (code) => {
      clearTimeout(timer)
      try {
        const { context } = code === 0 ? JSON.parse(said) : {}
        resolve(typeof context === "string" ? context : "")
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify({ event, ...payload }))
  }).catch(() => "")

const safely = (work) => async (...given) => {
  try {
    await work(...given)
  } catch {}
}

export const QuireMemory = async ({ directory }) => {
  const standing = new Map() // by session: what stands in its system prompt, as a promise
  const parents = new Map() // by session of a subagent: the session that started it
  const briefs = new Map() // by call of a tool: what governs the files that it edits
  const tell = (event, sessionID, more) =>
    ask(event, { sessionID, directory, parentID: parents.get(sessionID), ...more })

  const events = {
    "session.created": ({ info }) => {
      if (info.parentID) parents.set(info.id, info.parentID)
      standing.set(info.id, tell("session-start", info.id, { source: "startup" }))
    },
    "session.compacted": ({ sessionID }) => {
      const before = standing.get(sessionID)
      standing.set(sessionID, tell("after-compaction", sessionID).then((text) => text || before))
    },
    "session.idle": ({ sessionID }) => tell("turn-end", sessionID),
    "session.deleted": ({ info }) => standing.delete(info.id) && tell("session-end", info.id, { reason: "deleted" }),
  }

  return {
    event: safely(({ event }) => events[event.type]?.(event.properties)),
    "chat.message": safely(async ({ sessionID }, { message, parts }) => {
      if (!standing.has(sessionID)) standing.set(sessionID, tell("session-start", sessionID, { source: "resume" }))
      const written = parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = written.map((part) => part.text).join("\n").slice(0, MOST_CHARS)
      const text = prompt.trim() && (await tell("prompt", sessionID, { prompt }))
      const id = `${parts.at(-1)?.id}q` // parts are ordered by their ids: after the last one
      if (text) parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true })
    }),
    "experimental.chat.system.transform": safely(async ({ sessionID }, { system }) => {
      const text = await standing.get(sessionID)
      // Some models take one system message alone: this is added to the last one.
      if (text) system.push([...system.splice(-1), text].join("\n\n"))
    }),
    "tool.execute.before": safely(async ({ tool, sessionID, callID }, { args: { filePath, patchText } }) => {
      if (!EDITS.has(tool)) return
      if (briefs.size > 99) briefs.clear() // those of tools that failed
      briefs.set(callID, await tell("before-edit", sessionID, { tool, args: { filePath, patchText } }))
    }),
    // Nothing can be said before a tool runs: the model reads this with the tool's result.
    "tool.execute.after": safely(({ callID }, output) => {
      if (briefs.get(callID)) output.output += `\n\n${briefs.get(callID)}`
      briefs.delete(callID)
    }),
    "experimental.session.compacting": safely(async ({ sessionID }, { context }) => {
      const text = await tell("before-compaction", sessionID)
      if (text) context.push(text)
    }),
    dispose: safely(() => Promise.all([...standing.keys()].map((id) => tell("session-end", id, { reason: "exit" })))),
  }
}
