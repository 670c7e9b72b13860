/**
 * A file of a gigabyte through `pino-ingest send`: its peak memory and its rate; then killed in the middle and started
 * again, what is missing and what came twice. Not a test: run it by hand, against the built package.
 *
 *   node test/cli/send-big.mjs [MEGABYTES] [plain|gzip] [LATENCY_MS] [CONCURRENCY]
 */
import { spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGzip } from 'node:zlib'

const [megabytes = '1024', kind = 'plain', latencyMs = '0', concurrency = '1'] = process.argv.slice(2)
const CLI = fileURLToPath(new URL('../../dist/cjs/cli/main.js', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-big-'))
const file = join(dir, kind === 'gzip' ? 'app.log.gz' : 'app.log')

function say(text) {
  process.stdout.write(`${text}\n`)
}

function lineOf(n) {
  const id = ((n * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')
  return `${JSON.stringify({
    level: 30,
    time: 1_767_225_600_000 + n,
    pid: 4711,
    hostname: 'web-1',
    n,
    reqId: `${id}-${n}`,
    req: {
      method: 'GET',
      url: `/api/v1/orders/${id}?page=${n % 50}`,
      headers: { host: 'shop.example', 'user-agent': `Mozilla/5.0 (X11; Linux x86_64) Chrome/${100 + (n % 30)}.0` },
      remoteAddress: `10.0.${n % 250}.${n % 199}`,
    },
    res: { statusCode: n % 17 === 0 ? 404 : 200 },
    responseTime: n % 311,
    msg: 'request completed',
  })}\n`
}

async function makeFile() {
  const out = createWriteStream(file)
  const into = kind === 'gzip' ? createGzip({ level: 1 }) : out
  if (into !== out) into.pipe(out)
  let bytes = 0
  let lines = 0
  while (bytes < Number(megabytes) * 1_048_576) {
    let text = ''
    for (let n = 0; n < 1_000; n += 1) text += lineOf(lines++)
    bytes += text.length
    if (!into.write(text)) await once(into, 'drain')
  }
  into.end()
  await once(out, 'close')
  return { bytes, lines }
}

/** Notes the number of each entry, and has as little to do as can be. */
function sink(lines) {
  const times = new Uint8Array(lines)
  const seen = { arrived: 0, requests: 0 }
  const server = createServer((request, response) => {
    const parts = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString()
      let accepted = 0
      for (const [, n] of text.matchAll(/"n":(\d+)/g)) {
        times[Number(n)] += 1
        accepted += 1
      }
      seen.arrived += accepted
      seen.requests += 1
      const reply = () =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ accepted, rejected: 0, message: 'ok', errors: [] }))
      if (Number(latencyMs) > 0) setTimeout(reply, Number(latencyMs))
      else reply()
    })
  })
  return { server, times, seen }
}

function start(url, state) {
  return spawn(process.execPath, [CLI, 'send', file, '--concurrency', concurrency, '--state', state], {
    stdio: 'inherit',
    env: { ...process.env, PINO_INGEST_URL: url, PINO_INGEST_API_KEY: 'key-of-the-big-file' },
  })
}

/** Linux counts it itself; looked at until the process ends. */
function watchMemory(child) {
  const peak = { mb: 0 }
  const timer = setInterval(() => {
    try {
      const [, kb = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
      peak.mb = Math.max(peak.mb, (Number(kb) * 1024) / 1_000_000)
    } catch {
      clearInterval(timer) // it has ended
    }
  }, 50)
  child.once('exit', () => clearInterval(timer))
  return peak
}

function judge(times, name) {
  let missing = 0
  let twice = 0
  for (const count of times) {
    if (count === 0) missing += 1
    if (count > 1) twice += count - 1
  }
  say(`${name}: ${missing} missing, ${twice} twice`)
}

try {
  const made = await makeFile()
  say(
    `${file}: ${made.lines} lines, ${(made.bytes / 1_048_576).toFixed(0)} MiB of text, ${(statSync(file).size / 1_048_576).toFixed(0)} MiB on disk`,
  )
  const { server, times, seen } = sink(made.lines)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/api/v1`

  const startedAt = performance.now()
  const whole = start(url, join(dir, 'state-1'))
  const peak = watchMemory(whole)
  const [code] = await once(whole, 'exit')
  const seconds = (performance.now() - startedAt) / 1_000
  say(
    `whole: exit ${code}, ${seconds.toFixed(1)} s, ${(made.lines / seconds).toFixed(0)} entries/s, ${(made.bytes / 1_048_576 / seconds).toFixed(1)} MiB/s, peak ${peak.mb.toFixed(0)} MB`,
  )
  judge(times, 'whole')

  times.fill(0)
  seen.arrived = 0
  for (const share of [0.2, 0.5, 0.8]) {
    const killed = start(url, join(dir, 'state-2'))
    while (seen.arrived < share * made.lines) await new Promise((resolve) => setTimeout(resolve, 5))
    killed.kill('SIGKILL')
    await once(killed, 'exit')
  }
  const rest = start(url, join(dir, 'state-2'))
  const restPeak = watchMemory(rest)
  const [restCode] = await once(rest, 'exit')
  say(`killed three times, and resumed: exit ${restCode}, peak of the last ${restPeak.mb.toFixed(0)} MB`)
  judge(times, 'killed three times')
  server.closeAllConnections()
  server.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
