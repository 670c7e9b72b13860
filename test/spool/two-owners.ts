/**
 * Two owners at a time on one root, each with its own clock and PID namespace: suspended, killed, restarted, on a disk with partial
 * writes, no space, or no file descriptors. Entries on disk must arrive once, and an id must have one content.
 */
import { readFileSync, rmSync } from 'node:fs'
import { FakeClock } from '../fake-clock.js'
import { filesBelow, readFrames } from './disk-image.js'
import { Processes } from './process-run.js'
import { ModelDisk, instanceIn } from './model-disk.js'
import type { Fault } from './model-disk.js'
import { ModelOwner, OwnerClock, RENEW_MS } from './model-owner.js'
import { chooseFault, PAUSES_MS, SKEWS_MS } from './owner-steps.js'
import type { OwnerStep } from './owner-steps.js'
import { SharedService } from './shared-service.js'

/** After a suspension of this length, a claimer that cannot check the owner's thread may claim its folder. */
const LEASE_MS = 25_000
/** Time until all folders of ended or suspended owners are claimed: two leases, and the scans between. */
const CLAIM_MS = 125_000
const MIB = 1024 * 1024

export class TwoOwners {
  readonly service = new SharedService()
  readonly #root: string
  readonly #clock = new FakeClock(Date.now())
  readonly #disk: ModelDisk
  readonly #processes = new Map<string, Processes>()
  readonly #owners: ModelOwner[] = []
  /** The owner whose code is running. */
  #actor: OwnerClock | undefined
  #faultUntil = 0
  #serial = 0

  constructor(root: string) {
    this.#root = root
    rmSync(root, { recursive: true, force: true })
    this.#disk = new ModelDisk({
      root,
      now: () => this.#clock.now(),
      onMade: (path) => {
        const instance = instanceIn(path)
        if (instance !== undefined && this.#actor !== undefined) this.#actor.instance = instance
      },
      onRename: (from) => this.#renamed(from),
    })
    for (const index of [0, 1]) this.#begin(index, { namespace: index, skew: 0 })
  }

  async step({ kind, who, a, b }: OwnerStep): Promise<void> {
    const index = this.#owners[who]?.isStopped === true && kind !== 'continue' && kind !== 'kill' ? 1 - who : who
    const owner = this.#owners[index] as ModelOwner
    if (owner.isStopped && kind !== 'continue' && kind !== 'kill') return this.#continue(owner, true)
    const isDiskBad = this.#isDiskBad
    await this.#as(owner.clock, async () => {
      switch (kind) {
        case 'nothing':
          return
        case 'append':
          return owner.append(1 + (a % 7), b % 300, a % 3 > 0)
        case 'seal':
          return owner.run.batcher.seal()
        case 'spill':
          return owner.spill()
        case 'readBack':
          return owner.readBack()
        case 'send':
          return owner.send(a, true, isDiskBad)
        case 'loseReply':
          return owner.send(a, false, isDiskBad)
        case 'part':
          return owner.sendSome(a, b, { isRejected: false, isDiskBad })
        case 'reject':
          return owner.sendSome(a, b, { isRejected: true, isDiskBad })
        case 'recover':
          return owner.recover(1 + (a % 4))
        default:
          return
      }
    })
    switch (kind) {
      case 'advance':
        await this.#advance(PAUSES_MS[a % PAUSES_MS.length] as number)
        break
      case 'fault':
        this.#fail(chooseFault(a), 1 + (b % 20_000))
        break
      case 'setClock':
        owner.clock.skewMs = SKEWS_MS[a % SKEWS_MS.length] as number
        break
      case 'stop':
        owner.stop()
        break
      case 'continue':
        this.#continue(owner, a % 2 === 0)
        break
      case 'unlink':
        this.#unlink(a)
        break
      case 'kill':
        this.#kill(owner)
        this.#begin(index, { namespace: a, skew: b })
        break
      case 'close':
        this.#close(owner)
        this.#begin(index, { namespace: a, skew: b })
        break
    }
    for (const { run } of this.#owners) run.problems.length = 0
    if (!owner.isEnded) owner.checkAccount()
  }

  /** Ends all faults and sends all entries: no segment may be left. @throws the violations */
  async finish(): Promise<void> {
    this.#disk.fault = undefined
    this.#faultUntil = 0
    for (const owner of this.#owners) if (owner.isStopped) this.#continue(owner, true)
    await this.#advance(RENEW_MS)
    for (const owner of this.#owners) await this.#sendAll(owner)
    for (const owner of this.#owners) this.#close(owner)
    this.#owners.length = 0
    const last = this.#begin(0, { namespace: 0, skew: 0 })
    await this.#advance(CLAIM_MS)
    await this.#sendAll(last)
    const letters = filesBelow(this.#root)
      .filter((path) => path.endsWith('.ndjson'))
      .map((path) => readFileSync(path, 'utf8'))
      .join('')
    for (const n of this.service.setAside)
      if (!letters.includes(`"n":${n},`)) this.service.violated(`lost: the dead letter of entry ${n}`)
    this.#close(last)
    this.#owners.length = 0
    const left = filesBelow(this.#root).filter((path) => path.endsWith('.seg'))
    if (left.length > 0) this.service.violated(`left on disk: ${left.join()}`)
    this.service.audit()
    if (this.service.violations.length > 0) throw new Error(this.service.violations.slice(0, 5).join('\n'))
  }

  /** Restores the file system for the next sequence. */
  end(): void {
    for (const { run, clock } of this.#owners) {
      clock.isStopped = true
      run.abandon()
    }
    this.#disk.restore()
  }

  get #isDiskBad(): boolean {
    return this.#disk.fault === 'full' || this.#disk.fault === 'no-descriptors'
  }

  #begin(index: number, choice: { readonly namespace: number; readonly skew: number }): ModelOwner {
    const namespace = choice.namespace % 2 === 0 ? 'a namespace' : 'another'
    const processes = this.#processes.get(namespace) ?? new Processes()
    this.#processes.set(namespace, processes)
    const born = processes.born()
    const clock: OwnerClock = new OwnerClock(
      this.#clock,
      namespace,
      SKEWS_MS[choice.skew % SKEWS_MS.length] as number,
      (act) => this.#as(clock, act),
    )
    const owner = this.#as(
      clock,
      () =>
        new ModelOwner({
          root: this.#root,
          clock,
          machine: { ...born, self: { ...born.self, namespace } },
          service: this.service,
          batchSize: 5,
          spool: { maxBytes: 64 * MIB },
          newId: () => `00000000-0000-4000-8000-${(this.#serial++).toString(16).padStart(12, '0')}`,
        }),
    )
    this.#owners[index] = owner
    return owner
  }

  /** A claimed folder must belong to an ended owner, or to one whose lease may have expired. */
  #renamed(from: string): void {
    const instance = instanceIn(from)
    const by = this.#actor
    const owner = this.#owners.find(({ clock }) => clock.instance === instance && clock !== by)
    if (owner === undefined || owner.isEnded) return
    owner.wasClaimed()
    const {
      clock: { namespace, skewMs },
    } = owner
    const message = `claimed too early: ${instance} of ${namespace}, clock ${skewMs} ms, by an owner of ${by?.namespace}, clock ${by?.skewMs} ms`
    const { silentSince = Infinity } = owner
    if (this.#clock.now() - silentSince < LEASE_MS) this.service.violated(message)
    else if (namespace === by?.namespace) this.service.violated(`${message}, suspended in the same namespace`)
  }

  #as<T>(clock: OwnerClock, act: () => T): T {
    const before = this.#actor
    const done = (): void => {
      this.#actor = before
      this.#disk.isActive = before !== undefined
    }
    this.#actor = clock
    this.#disk.isActive = true
    const result = act()
    if (result instanceof Promise) return result.finally(done) as T
    done()
    return result
  }

  async #advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= RENEW_MS) {
      const passed = Math.min(left, RENEW_MS)
      await this.#clock.advance(passed, (step) => this.#disk.passed(step))
      for (const owner of this.#owners) owner.passed(passed, this.#isDiskBad)
      if (this.#clock.now() >= this.#faultUntil) this.#disk.fault = undefined
    }
  }

  #fail(fault: Fault, forMs: number): void {
    this.#disk.fault = fault
    this.#faultUntil = this.#clock.now() + forMs
  }

  /** @param isTimeFirst whether due timers fire before anything else runs */
  #continue(owner: ModelOwner, isTimeFirst: boolean): void {
    if (!owner.isStopped) return
    owner.continue()
    if (isTimeFirst) owner.clock.fireDue()
    else owner.clock.timer(0, () => owner.clock.fireDue())
  }

  #unlink(choice: number): void {
    const segments = filesBelow(this.#root).filter((path) => path.endsWith('.seg'))
    const path = segments[choice % Math.max(segments.length, 1)]
    if (path === undefined) return
    const bytes = readFileSync(path)
    const text = readFrames(bytes)
      .map(({ at, end }) => bytes.toString('utf8', at, end))
      .join()
    for (const [, n] of text.matchAll(/"n":(\d+),/g)) this.service.entry(Number(n)).mayBeLost = true
    rmSync(path)
    for (const owner of this.#owners) owner.lostSegment(RENEW_MS)
  }

  #kill(owner: ModelOwner): void {
    owner.died()
    owner.run.abandon()
    this.#ended(owner)
  }

  #close(owner: ModelOwner): void {
    // Runs as the owner, so that the faults of the disk apply.
    this.#as(owner.clock, () => owner.close())
    if (this.#isDiskBad) owner.died()
    this.#ended(owner)
  }

  #ended(owner: ModelOwner): void {
    owner.isEnded = true
    owner.clock.isStopped = true
    this.#processes.get(owner.clock.namespace)?.die(owner.run.machine)
  }

  async #sendAll(owner: ModelOwner): Promise<void> {
    await this.#as(owner.clock, async () => {
      owner.run.batcher.seal()
      await owner.recover(Infinity)
      while (owner.run.spool.spilled.batches > 0) await owner.readBack()
      while (owner.hasBatches) owner.send(0, true, false)
    })
  }
}
