/**
 * One of two processes that share a folder: logs numbers, writes batches to a file instead of sending them, and claims other folders.
 * Its clocks run `speed` times as fast, so that a lease takes seconds; the wall clock is shifted by `skewMs`. Loads `dist`.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Account } from '../../build/modules/diagnostics/account.js'
import { Batcher } from '../../build/modules/pipeline/batcher.js'
import { readMachine } from '../../build/modules/spool/instance/ownership.js'
import { Spool } from '../../build/modules/spool/spool.js'

const { root, out, name, from, speed, skewMs, namespace } = JSON.parse(process.argv[2])
const SEND_MS = 30
const LOG_MS = 10

const dateNow = Date.now
Date.now = () => dateNow() + skewMs
const clock = {
  now: () => performance.now() * speed,
  wallNow: () => Date.now(),
  timer: (ms, fire) => {
    const timer = setTimeout(fire, ms / speed)
    return () => clearTimeout(timer)
  },
}
const note = (file, line) => appendFileSync(join(out, file), `${line}\n`)
const machine = readMachine()
if (namespace !== undefined) machine.self = { ...machine.self, namespace }

const send = (batch) =>
  setTimeout(() => {
    note(`sent.${name}`, Buffer.from(batch.body).toString())
    batch.acknowledgement?.acknowledge()
  }, SEND_MS)

const spool = new Spool({
  dir: root,
  maxBytes: 64 * 1024 * 1024,
  maxAgeMs: 3_600_000_000,
  durability: 'process',
  url: 'http://ingest.test',
  apiKey: 'key',
  clock,
  account: new Account(),
  machine,
  onFound: () => void recover(),
  report: {
    problem: (text) => note(`problems.${name}`, text),
    note: (kind) => note(`notes.${name}`, kind),
    dropped: (count, reason) => note(`problems.${name}`, `${count} ${reason}`),
  },
})
let isRecovering = false
async function recover() {
  if (isRecovering) return
  isRecovering = true
  while (
    await spool.recovery.next((batch) => {
      note(`notes.${name}`, `recovered ${batch.count}`)
      send(batch)
    })
  );
  isRecovering = false
}
// Batches stay open for a long time, so that one is open when the process is suspended.
const batcher = new Batcher({
  batch: { size: 40, intervalMs: 60_000 },
  clock,
  log: spool.log,
  onBatch: send,
})
spool.start()

let next = from
const logging = setInterval(() => {
  if (existsSync(join(out, `quiet.${name}`))) return clearInterval(logging)
  batcher.add(JSON.stringify({ n: next }), 1)
  batcher.commit()
  // The entry is on disk.
  note(`logged.${name}`, next)
  next += 1
}, LOG_MS)
