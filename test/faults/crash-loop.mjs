/**
 * Three concurrent slots on one spool root, each a sequence of processes: killed, suspended for up to 90 s, with wrong clocks, in separate
 * PID namespaces, on a disk that is sometimes full, with a service that loses replies.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, readdirSync, readlinkSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { duplicateReasons } from './duplicate-reasons.mjs'
import { nowMs, until } from './monotonic.mjs'
import { recordsBelow, segmentsBelow } from './on-disk.mjs'
import { seeded } from './random.mjs'
import { OURS, Stage, range } from './stage.mjs'

const MIB = 1024 * 1024
const DISK_MIB = 48
/** Record numbers per process of a slot; more than one process can log. */
const SLOT_RECORDS = 100_000_000
const GAP = 1_000
/** Time before and after a full disk during which records may be only in memory. */
const FULL_BEFORE_MS = 2_500
const FULL_AFTER_MS = 7_000
/** Folders of another PID namespace are claimed after their lease and one more scan. */
const LAST_MS = 150_000
const SKEWS_MS = [0, 0, 35_000, -35_000, 7_200_000, -7_200_000]
const SKEWED_CLOCK = fileURLToPath(new URL('skewed-clock.cjs', import.meta.url))
const OWN_NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']

/** @param {readonly string[]} command */
function isPermitted([name = '', ...args]) {
  try {
    execFileSync(name, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** One root with its slots, service and disk. */
class CrashLoop {
  /** @type {import('./duplicate-reasons.mjs').ProcessRecord[]} */
  processes = []
  /** @type {Set<number>} */
  must = new Set()
  /** @type {number[]} */
  downs = []
  /** @type {{ from: number, to: number }[]} */
  full = []
  isOver = false
  #stage
  #seed
  #hasDisk
  #hasNamespaces = isPermitted([...OWN_NAMESPACE, 'true'])
  #count = 0

  /** @param {import('./stage.mjs').Stage} stage @param {number} seed */
  constructor(stage, seed) {
    this.#stage = stage
    this.#seed = seed
    const disk = join(stage.folder, 'disk')
    mkdirSync(disk)
    this.#hasDisk = isPermitted(['mount', '-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'none', disk])
    if (this.#hasDisk) {
      stage.disk = disk
      stage.beforeRemoval = () => void execFileSync('umount', ['--lazy', disk])
    }
    stage.server.identify = (port) =>
      processBehind(
        port,
        Number(new URL(stage.server.origin).port),
        stage.apps.filter(({ isRunning }) => isRunning).map(({ pid }) => pid),
      )
  }

  get without() {
    return [
      ...(this.#hasDisk ? [] : ['no full disk: mount is not permitted']),
      ...(this.#hasNamespaces ? [] : ['no namespaces: unshare is not permitted']),
    ]
  }

  /** @param {{ processes: number, slots: number, perSecond: number, marginMs: number }} size */
  async run({ processes, slots, perSecond, marginMs }) {
    await this.#stage.server.up()
    const weather = [this.#service(), this.#hasDisk ? this.#disk() : undefined]
    await Promise.all(range(0, slots).map((slot) => this.#slot(slot, { processes, perSecond, marginMs })))
    this.isOver = true
    await Promise.all(weather)
    await this.#deliverAll()
  }

  /** @param {number} slot @param {{ processes: number, perSecond: number, marginMs: number }} size */
  async #slot(slot, { processes, perSecond, marginMs }) {
    const random = seeded(this.#seed * 1_000 + slot)
    let first = slot * SLOT_RECORDS
    for (let processRun = 0; processRun < processes; processRun += 1) {
      const skewMs = SKEWS_MS[Math.floor(random() * SKEWS_MS.length)] ?? 0
      const isApart = random() < 0.4 && this.#hasNamespaces
      const app = this.#stage.start(
        { first, count: SLOT_RECORDS, perSecond, awaitReady: true, end: 'hold' },
        {
          spool: { dir: this.#stage.spoolDir, maxBytes: 256 * MIB },
        },
        {
          env: { SKEW_MS: String(skewMs), NODE_OPTIONS: `--require ${SKEWED_CLOCK}` },
          ...(isApart && { within: OWN_NAMESPACE }),
        },
      )
      const startedAt = nowMs()
      await app.event('started')
      const { pid } = app
      const stops = []
      await sleep(100 + random() ** 2 * 3_000)
      const isKilled = random() < 0.85
      // Suspended, mostly briefly; then killed, or resumed and killed later.
      let ranUntil
      if (random() < 0.22) {
        const stopMs = stopMsOf(random)
        const from = app.kill('SIGSTOP')
        await sleep(stopMs)
        stops.push({ from, to: nowMs() })
        if (isKilled && random() < 0.4) ranUntil = from
        else {
          app.kill('SIGCONT')
          await sleep(1_500 + random() * 5_000)
        }
      }
      const killedAt = isKilled ? app.kill('SIGKILL') : undefined
      if (!isKilled) app.kill('SIGTERM')
      await app.done
      const how = `process ${(this.#count += 1)} (slot ${slot}, ${isApart ? 'own namespace' : 'shared namespace'}, clock ${skewMs / 1000} s, ${stops.map(({ from, to }) => `stopped ${Math.round((to - from) / 1000)} s, `).join('')}${isKilled ? 'killed' : 'ended'})`
      const said = `${JSON.stringify(app.last('ingest:stats')?.payload)}; ${app.stderr.slice(-500)}`
      this.processes.push({
        pid,
        startedAt,
        endedAt: nowMs(),
        stops,
        how,
        first,
        last: app.loggedAt(),
        said,
        ...(isKilled && { killedAt: ranUntil ?? killedAt ?? 0 }),
      })
      this.#note(app, first, isKilled ? app.readAt((ranUntil ?? killedAt ?? 0) - marginMs) : app.loggedAt())
      first = app.loggedAt() + 1 + GAP
    }
  }

  /** Records of a process that must arrive: all on disk now, and those that its worker had read in time while the disk had room. @param {import('./run-app.mjs').App} app @param {number} first @param {number} last */
  #note(app, first, last) {
    for (const n of recordsBelow(this.#stage.spoolDir)) this.must.add(n)
    let n = first
    for (const progress of app.progress()) {
      const isFull = this.full.some(
        ({ from, to }) => progress.at > from - FULL_BEFORE_MS && progress.at < to + FULL_AFTER_MS,
      )
      for (; n <= Math.min(progress.n, last); n += 1) if (!isFull) this.must.add(n)
    }
  }

  async #service() {
    const { server } = this.#stage
    const random = seeded(this.#seed * 1_000 + 998)
    while (!this.isOver) {
      const choice = random()
      if (choice < 0.25) {
        this.downs.push(nowMs())
        await server.down()
        await this.#pause(choice < 0.05 ? 8_000 + random() * 8_000 : 500 + random() * 2_500)
        await server.up()
      } else {
        server.behavior =
          choice < 0.37
            ? { kind: 'lost-reply' }
            : choice < 0.42
              ? { kind: 'reset-in-reply' }
              : choice < 0.5
                ? { kind: 'status', status: 503 }
                : { kind: 'ok', latencyMs: 5 + random() * 80 }
        await this.#pause(choice < 0.42 ? 200 + random() * 500 : 1_000 + random() * 3_000)
      }
      server.behavior = { kind: 'ok', latencyMs: 5 }
    }
  }

  /** Fills the disk with a file outside of the spool, then deletes it. */
  async #disk() {
    const random = seeded(this.#seed * 1_000 + 999)
    const ballast = join(this.#stage.disk, 'ballast')
    while (!this.isOver) {
      await this.#pause(8_000 + random() * 20_000)
      if (this.isOver) return
      const window = { from: nowMs(), to: Infinity }
      this.full.push(window)
      fill(ballast)
      const until_ = nowMs() + 1_000 + random() * 6_000
      while (nowMs() < until_ && !this.isOver) {
        await sleep(300)
        fill(ballast) // settled segments were deleted and made room
      }
      rmSync(ballast)
      window.to = nowMs()
    }
  }

  /** @param {number} ms */
  async #pause(ms) {
    await until(() => this.isOver, ms)
  }

  /** A last process delivers the entries that the others left. */
  async #deliverAll() {
    const { server, spoolDir } = this.#stage
    await server.up()
    server.behavior = { kind: 'ok' }
    const app = this.#stage.start(
      { first: 3 * SLOT_RECORDS * 10, count: 0, end: 'hold' },
      { spool: { dir: spoolDir, maxBytes: 256 * MIB } },
    )
    const startedAt = nowMs()
    await app.event('ready')
    for (const n of recordsBelow(spoolDir)) this.must.add(n)
    await until(() => !app.isRunning || segmentsBelow(spoolDir).length === 0, LAST_MS)
    await sleep(1_000)
    const { pid } = app
    app.kill('SIGTERM')
    await app.done
    this.processes.push({ pid, startedAt, endedAt: nowMs(), stops: [], how: 'the last process' })
  }
}

/** @param {() => number} random */
function stopMsOf(random) {
  const choice = random()
  if (choice < 0.75) return 200 + random() * 3_000
  return choice < 0.9 ? 20_000 + random() * 20_000 : 60_000 + random() * 30_000
}

/** @param {string} path */
function fill(path) {
  const fd = openSync(path, 'a')
  try {
    for (const bytes of [MIB, 4_096]) {
      const piece = Buffer.alloc(bytes)
      try {
        while (writeSync(fd, piece) === bytes);
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(fd)
  }
}

/** Finds the process that has the connection between these ports. @param {number} from @param {number} to @param {readonly number[]} pids */
function processBehind(from, to, pids) {
  const [ours, theirs] = [from, to].map((port) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`)
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const row = rows.find(([, local = '', remote = '']) => local.endsWith(ours ?? '') && remote.endsWith(theirs ?? ''))
  const socket = `socket:[${row?.[9]}]`
  return pids.find((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === socket)
    } catch {
      return false // the process has ended
    }
  })
}

/** @param {string} path */
function linkOf(path) {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // closed since the folder was listed
  }
}

/** @type {import('./scenarios.mjs').Scenario['run']} */
async function runCrashLoop(stage, { processes, roots, slots, perSecond, marginMs, seed }) {
  const stages = [stage, ...range(1, roots).map(() => new Stage(OURS, 'full'))]
  const loops = stages.map((one, index) => new CrashLoop(one, seed + index))
  try {
    await Promise.all(
      loops.map((loop) => loop.run({ processes: Math.ceil(processes / roots), slots, perSecond, marginMs })),
    )
    const judged = loops.map((loop, index) => judge(loop, /** @type {Stage} */ (stages[index]), seed + index))
    return stage.outcome({
      expected: judged.reduce((sum, { expected }) => sum + expected, 0),
      lost: judged.reduce((sum, { lost }) => sum + lost, 0),
      mayDuplicate: Infinity,
      wrong: judged.flatMap(({ wrong }) => wrong),
      notes: [`seed ${seed}`, ...judged.flatMap(({ notes }) => notes)],
    })
  } finally {
    for (const one of stages.slice(1)) await one.close()
  }
}

/** @param {CrashLoop} loop @param {Stage} stage @param {number} seed */
function judge(loop, stage, seed) {
  const { server } = stage
  const lost = stage.lost(loop.must)
  const { counts, unexplained, splitBatches } = duplicateReasons(server, loop.processes, loop)
  const contents = [...server.violations].filter((violation) => violation.includes('other bytes'))
  const stranded = segmentsBelow(stage.spoolDir)
  // A record may arrive under a second id if its owner was suspended for longer than its lease.
  for (const violation of server.violations)
    if (violation.includes('second batch') || violation.includes('other bytes')) server.violations.delete(violation)
  const wrong = [
    ...contents,
    ...unexplained,
    ...(splitBatches > 0 ? [`${splitBatches} entries came in a second batch without a stop past the lease`] : []),
    ...(stranded.length > 0 ? [`${stranded.length} segments are still there: ${stranded.slice(0, 3).join(', ')}`] : []),
  ].map((text) => `seed ${seed}: ${text}`)
  return {
    expected: loop.must.size,
    lost: lost.length,
    wrong,
    notes: [
      `seed ${seed}: ${loop.processes.length} processes, ${server.stored.size} records stored, lost ${lost.length}${lost.length > 0 ? ` (${groupsOf(lost)})` : ''}`,
      ...loop.processes
        .filter(({ first = 0, last = -1 }) => lost.some((n) => first <= n && n <= last))
        .map(({ how, first, last, said }) => `lost entries of ${how}, which logged ${first} to ${last}: ${said}`),
      `duplicated: ${
        Object.entries(counts)
          .map(([reason, count]) => `${count} ${reason}`)
          .join(', ') || 'none'
      }`,
      `${contents.length} batch ids with two contents`,
      `the disk was full ${loop.full.length} times, the service down ${loop.downs.length} times`,
      ...loop.without,
    ],
  }
}

/** Formats numbers as ranges. @param {readonly number[]} numbers */
function groupsOf(numbers) {
  /** @type {[number, number][]} */
  const runs = []
  for (const n of numbers.toSorted((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run !== undefined && n === run[1] + 1) run[1] = n
    else runs.push([n, n])
  }
  return `${runs
    .slice(0, 5)
    .map(([from, to]) => `${from} to ${to}`)
    .join(', ')}${runs.length > 5 ? ', …' : ''}`
}

/** @type {import('./scenarios.mjs').Scenario} */
export const CRASH_LOOP = {
  key: 'crash-loop',
  name: 'kill, stop, wrong clocks, full disk, process after process',
  mustBe: '0/only after a kill, a stop or a lost reply',
  run: runCrashLoop,
  isOursOnly: true,
  isAlone: true,
  // Number of processes for each of three slots, on two roots in parallel.
  full: { processes: 200, roots: 2, slots: 3, perSecond: 300, marginMs: 500, seed: 1 },
  // The length of a lease is fixed, so there is no quick size.
  quick: undefined,
}
