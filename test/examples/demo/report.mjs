/** Prints the results of the demo. */
import { styleText } from 'node:util'
import {
  allEntries,
  batchesOf,
  besides,
  failedPayment,
  placedOrder,
  plainRequest,
  sharedTrace,
} from './expectations.mjs'

const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal']
const COLORS = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red', fatal: 'magenta' }
const BAR_WIDTH = 30
const isColored = process.stdout.isTTY === true && !process.env.NO_COLOR

const paint = (style, text) => (isColored ? styleText(style, text) : text)
const heading = (text) => console.log(`\n${paint('bold', `── ${text}`)}\n`)

export function printStart({ url }, shopUrl, inventoryUrl) {
  console.log(
    "A shop with two services, in a separate process, logs through pino's worker thread to the local service.\n",
  )
  console.log(`  local service  ${url}`)
  console.log(`  shop           ${shopUrl}  node:http and pino-http`)
  console.log(`  inventory      ${inventoryUrl}  Fastify`)
}

export function printArrived(service, { requests, logged }) {
  const entries = allEntries(service)
  const sizes = batchesOf(service).map((batch) => batch.entries)
  heading('What arrived')
  console.log(
    `For ${requests.count} requests the shop logged ${logged} lines; ${entries.length} entries arrived, in ${sizes.length} batches of ${list(sizes)}.`,
  )
  printCounts(
    'by level',
    LEVELS.map((level) => [level, entries.filter((entry) => entry.level === level).length]),
  )
  printCounts(
    'by service',
    ['shop', 'inventory'].map((name) => [name, entries.filter((entry) => entry.service === name).length]),
  )
  printEntry(
    'A failed payment: the chain of causes in one stack, the request, the trace, the code location',
    failedPayment(entries),
  )
  printEntry('An HTTP request, as pino-http logs it', plainRequest(entries))
  printEntry(
    'An order: a custom level, the user, tags, and what the application logged beside them',
    placedOrder(entries),
  )
  printTrace(sharedTrace(entries))
  printBesides(besides(service))
}

export function printGoodbye({ origin, url, token, pageUrl }, keep) {
  heading('Where to look')
  const places = [
    [pageUrl, 'the page: live entries, errors, requests, releases, monitors, feedback'],
    [`${origin}/local/entries?level=error,fatal&token=${token}`, 'what went wrong, as JSON'],
    [`${origin}/local/entries?q=declined&token=${token}`, 'a search'],
    [`${origin}/local/counts?token=${token}`, 'counts by level'],
    [`${origin}/local/requests?token=${token}`, 'every received batch'],
  ]
  const width = Math.max(...places.map(([address]) => address.length))
  for (const [address, what] of places)
    console.log(`  ${paint('cyan', address)}${' '.repeat(width - address.length)}  ${what}`)
  console.log(
    keep
      ? keptText({ origin, url, token })
      : '\nThese links worked while the demo ran. To use them: npm run demo -- --keep',
  )
  console.log('To use it in your application, see "Install and log" in README.md; docs/mapping.md lists every field.')
}

function keptText({ origin, url, token }) {
  return `
The local service runs until Ctrl-C, and customers send one request per second. To print entries in another terminal:

  PINO_INGEST_DEV_TOKEN=${token} npx pino-ingest tail --url ${origin}

To send the logs of your own application:

  PINO_INGEST_URL=${url} PINO_INGEST_API_KEY=any node app.mjs
`
}

function printCounts(title, counts) {
  const most = Math.max(...counts.map(([, count]) => count))
  const width = Math.max(...counts.map(([name]) => name.length))
  console.log(`\n  ${title}`)
  for (const [name, count] of counts) {
    const bar = '█'.repeat(Math.ceil((count / most) * BAR_WIDTH))
    console.log(`    ${name.padEnd(width)} ${String(count).padStart(4)}  ${paint(COLORS[name] ?? 'cyan', bar)}`)
  }
}

function printEntry(title, entry) {
  if (entry === undefined) return // reported by the expectations
  heading(title)
  console.log(JSON.stringify(entry, null, 2))
}

function printTrace(entries) {
  const [first] = entries
  if (first === undefined) return // as above
  heading(`One order through both services: trace ${first.trace.trace_id}`)
  for (const { timestamp, level, service, message, request } of entries) {
    const after = `+${Date.parse(timestamp) - Date.parse(first.timestamp)}`
    const http =
      request === undefined ? '' : `  ${[request.method, request.path, request.status_code].filter(Boolean).join(' ')}`
    console.log(
      `  ${after.padStart(4)} ms  ${paint(COLORS[level], level.padEnd(5))}  ${service.padEnd(9)}  ${message}${http}`,
    )
  }
}

function printBesides({ requestLogs, releases, monitors, feedback, rejected }) {
  heading('Other records')
  const routes = new Set(requestLogs.map(({ method, route, path }) => `${method} ${route ?? path}`))
  const lines = [
    ['requests', `${requestLogs.length} of ${routes.size} routes`],
    ['releases', releases.map(({ release, release_id }) => `${release.version} is ${release_id}`).join(', ')],
    ['monitors', `${monitors.join(', ')}: by the SHA-256 of their tokens`],
    ['feedback', feedback.map(({ name, comments }) => `${name}, on a failed payment: "${comments}"`).join(', ')],
    [
      'refused',
      rejected
        .map(
          ({ reasons: [first] }) => `${first?.loc.join('.')} ${first?.message}: sent by a client without pino-ingest`,
        )
        .join(', '),
    ],
  ]
  for (const [kind, text] of lines) console.log(`  ${kind.padEnd(8)}  ${text}`)
}

function list(sizes) {
  return sizes.length === 1 ? String(sizes[0]) : `${sizes.slice(0, -1).join(', ')} and ${sizes.at(-1)}`
}
