// Stands between the conformance suite and the server, for the two things that the suite has no option for: it adds the
// token, and where the suite asks for a tool, a prompt or a resource of its own, it asks for the one of ours that was
// named to stand for it. Nothing else is changed, and no answer is.
//
// Says its port on the standard output; is told {"port", "token", "names"} on the standard input, and goes with it.

import { createServer, request } from 'node:http'
import { createInterface } from 'node:readline'

let told = null

function renamed(body) {
  if (!Object.keys(told.names).some((name) => body.includes(JSON.stringify(name)))) return [body, null]
  const message = JSON.parse(body)
  const asked = message.params?.name ?? message.params?.uri
  if (!(asked in told.names)) return [body, null]
  const [name, args] = told.names[asked]
  message.params = { ...message.params, ...(args ? { name, arguments: args } : { uri: name }) }
  return [JSON.stringify(message), name]
}

const proxy = createServer(async (asked, answer) => {
  const parts = await asked.toArray()
  const [body, name] = renamed(Buffer.concat(parts).toString())
  const headers = { ...asked.headers, authorization: `Bearer ${told.token}` }
  if (parts.length) headers['content-length'] = Buffer.byteLength(body)
  delete headers['transfer-encoding']
  if (name && headers['mcp-name']) headers['mcp-name'] = name
  const options = { host: '127.0.0.1', port: told.port, method: asked.method, path: asked.url, headers }
  const passed = request(options, (reply) => {
    answer.writeHead(reply.statusCode, reply.headers)
    reply.pipe(answer)
  })
  passed.on('error', () => answer.destroy())
  answer.on('close', () => passed.destroy())
  passed.end(parts.length ? body : undefined)
})

proxy.listen(0, '127.0.0.1', () => console.log(proxy.address().port))
createInterface({ input: process.stdin })
  .on('line', (line) => (told = JSON.parse(line)))
  .on('close', () => process.exit(0))
