// One session of a client with memory-mcp, from the first message to the last; what was seen goes to the standard output.
//
// node walk.mjs '{"sdk": 1 | 2, "era": "legacy" | "auto" | "2026-07-28", "subject": "amber", ...}', and either "command",
// "cwd" and "env" or "url" and "token". Each walk has a subject of its own: many walk through one memory.

const given = JSON.parse(process.argv[2])
const sdk = await load()

const client = new sdk.Client({ name: 'walk', version: '1.0.0' }, sdk.options)
const transport = given.url ? overHttp() : overPipes()
let said = ''
transport.stderr?.on('data', (part) => (said += part))
const failures = []
client.onerror = (error) => failures.push(String(error))
// The older client tells only the transport which version was agreed on.
let version = null
const agreed = transport.setProtocolVersion?.bind(transport)
transport.setProtocolVersion = (told) => {
  version = told
  agreed?.(told)
}

await client.connect(transport)
const seen = { ...opened(), ...(await walked()) }
const pid = transport.pid
if (given.url && sdk.era() === 'legacy') await transport.terminateSession()
await client.close()
console.log(JSON.stringify({ ...seen, ...(given.url ? {} : { ended: await ended(pid), said }), failures }))

async function load() {
  if (given.sdk === 1) {
    const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/stdio.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js')
    ])
    return { Client, StdioClientTransport, StreamableHTTPClientTransport, options: {}, era: () => 'legacy' }
  }
  const [{ Client, StreamableHTTPClientTransport }, { StdioClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('@modelcontextprotocol/client/stdio')
  ])
  const mode = ['legacy', 'auto'].includes(given.era) ? given.era : { pin: given.era }
  const options = { versionNegotiation: { mode } }
  return { Client, StdioClientTransport, StreamableHTTPClientTransport, options, era: () => client.getProtocolEra() }
}

function overPipes() {
  const [command, ...args] = given.command
  return new sdk.StdioClientTransport({ command, args, cwd: given.cwd, env: given.env, stderr: 'pipe' })
}

function overHttp() {
  const headers = { Authorization: `Bearer ${given.token}` }
  return new sdk.StreamableHTTPClientTransport(new URL(given.url), { requestInit: { headers } })
}

function opened() {
  return {
    era: sdk.era(),
    version: client.getNegotiatedProtocolVersion?.() ?? version,
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions()
  }
}

async function walked() {
  const { tools } = await client.listTools()
  const title = `Ferry ${given.subject}`
  const node = { kind: 'decision', title, body: `The ${given.subject} ferry leaves at noon.`, anchors: ['src/ferry.py'] }
  const fact = { section: 'Constraints', content: `Only ${given.subject} lanterns burn on deck.` }
  const ref = `decision.ferry-${given.subject}`
  const calls = {
    status: await called('status_memory', {}),
    save: await called('save_memory', { task: `Try ${given.subject}`, nodes: [node] }),
    query: await called('query_memory', { question: `When does the ${given.subject} ferry leave?`, layers: ['graph'] }),
    inspect: await called('inspect_memory', { id: ref }),
    brief: await called('brief_memory', { files: ['src/ferry.py'] }),
    sync: await called('sync_memory', { dry_run: true }),
    store: await called('memory_store', fact),
    recall: await called('memory_recall', { query: `${given.subject} lanterns on deck`, k: 3 }),
    // What goes wrong in a call is a result; what is wrong with a request is an error.
    missing: await called('inspect_memory', { id: 'decision.no-such-thing' }),
    refused: await called('query_memory', { question: 'ferry', colour: 'blue' }),
    unknown: await called('no_such_tool', {})
  }
  return {
    tools: tools.map((tool) => [tool.name, tool.title ?? tool.annotations.title, tool.outputSchema.type]),
    calls,
    garbled: await garbled(),
    resources: (await client.listResources()).resources.map((one) => [one.uri, one.mimeType]),
    templates: (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
    reads: {
      map: await read('memory://map'),
      status: await read('memory://status'),
      schema: await read('memory://schema'),
      record: await read(`memory://record/${ref}`),
      missing: await read('memory://nowhere')
    },
    prompts: (await client.listPrompts()).prompts.map((one) => [one.name, one.arguments.map((item) => item.name)]),
    gets: {
      orient: await got('orient', { topic: `the ${given.subject} ferry` }),
      save_what_changed: await got('save_what_changed', { task: given.subject }),
      hand_over: await got('hand_over', {}),
      missing: await got('no_such_prompt', {})
    },
    ping: sdk.era() === 'legacy' ? await client.ping() : null
  }
}

async function called(name, args) {
  try {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: args })
    return { isError, structured: structuredContent, types: content.map((part) => part.type), text: content[0].text }
  } catch (error) {
    return problem(error)
  }
}

// A result that does not fit the tool's schema must not pass: otherwise all the others passed unseen.
async function garbled() {
  const pass = transport.onmessage
  transport.onmessage = (message, extra) => {
    if (message.result?.structuredContent) message.result.structuredContent.ok = 'perhaps'
    pass(message, extra)
  }
  try {
    return await called('status_memory', {})
  } finally {
    transport.onmessage = pass
  }
}

async function read(uri) {
  try {
    const { contents } = await client.readResource({ uri })
    return contents.map((one) => [one.uri, one.mimeType, one.text])
  } catch (error) {
    return problem(error)
  }
}

async function got(name, args) {
  try {
    const { messages } = await client.getPrompt({ name, arguments: args })
    return messages.map((one) => [one.role, one.content.type, one.content.text])
  } catch (error) {
    return problem(error)
  }
}

function problem(error) {
  // The older client puts the code before the server's words.
  const message = error.message.replace(/^MCP error -?\d+: /, '')
  return { kind: error.constructor.name, code: error.code ?? null, message, data: error.data ?? null }
}

async function ended(pid) {
  for (let turn = 0; turn < 500; turn++) {
    try {
      process.kill(pid, 0)
    } catch {
      return true
    }
    await new Promise((done) => setTimeout(done, 10))
  }
  return false
}
