/** The file system of a model: it uses the model's clock and injects faults with the system's error codes. */
import type fs from 'node:fs'
import { basename, join } from 'node:path'
import { replaceCalls, system } from './disk-faults.js'

const REAL = { ...system }

/**
 * - `short`: a write writes only a part and returns its length
 * - `full`: a write writes only a part and the next fails; no file or folder can be created
 * - `no-descriptors`: no file can be opened and no folder listed
 * - `rename-unconfirmed`: one rename succeeds and is reported as `ENOENT`
 */
export const FAULTS = ['short', 'short', 'full', 'no-descriptors', 'no-descriptors', 'rename-unconfirmed'] as const
export type Fault = (typeof FAULTS)[number]

export interface ModelDiskOptions {
  readonly root: string
  /** Milliseconds since the model began. */
  readonly now: () => number
  readonly onRename: (from: string, to: string) => void
  readonly onMade: (folder: string) => void
}

export class ModelDisk {
  /** The current fault, for all owners. */
  fault: Fault | undefined
  /** Whether faults apply: set while the spool runs, not while the test reads files. */
  isActive = false
  /** Stops the simulation. */
  readonly restore: () => void
  readonly #options: ModelDiskOptions
  #calls = 0

  constructor(options: ModelDiskOptions) {
    this.#options = options
    const { now } = options
    const timed = (stats: fs.Stats | undefined): fs.Stats | undefined => {
      if (stats !== undefined && typeof stats.mtimeMs === 'number') stats.mtimeMs += now()
      return stats
    }
    const replacements: Record<string, (...given: never[]) => unknown> = {
      openSync: (path: string, flags: number, ...rest: never[]) => {
        if (this.#is('no-descriptors', path)) throw errorOf('EMFILE', 'open')
        if (this.#is('full', path) && (flags & REAL.constants.O_CREAT) !== 0 && !REAL.existsSync(path))
          throw errorOf('ENOSPC', 'open')
        return REAL.openSync(path, flags, ...rest)
      },
      readdirSync: (path: string, ...rest: never[]) => {
        if (this.#is('no-descriptors', path)) throw errorOf('EMFILE', 'scandir')
        return REAL.readdirSync(path, ...rest)
      },
      mkdirSync: (path: string, ...rest: never[]) => {
        if (this.#is('full', path)) throw errorOf('ENOSPC', 'mkdir')
        const made = REAL.mkdirSync(path, ...rest)
        if (path.startsWith(options.root)) options.onMade(path)
        return made
      },
      renameSync: (from: string, to: string) => {
        REAL.renameSync(from, to)
        if (this.isActive && from.startsWith(options.root)) options.onRename(from, to)
        if (!this.#is('rename-unconfirmed', from)) return
        this.fault = undefined
        throw errorOf('ENOENT', 'rename')
      },
      writeSync: (fd: number, data: Buffer | string, ...rest: never[]) => this.#write(fd, data, rest),
      utimesSync: (path: string, atime: number, mtime: number) =>
        REAL.utimesSync(path, atime - now() / 1000, mtime - now() / 1000),
      statSync: (...given: Parameters<typeof REAL.statSync>) => timed(REAL.statSync(...given) as fs.Stats | undefined),
      lstatSync: (...given: Parameters<typeof REAL.lstatSync>) =>
        timed(REAL.lstatSync(...given) as fs.Stats | undefined),
      fstatSync: (...given: Parameters<typeof REAL.fstatSync>) =>
        timed(REAL.fstatSync(...given) as fs.Stats | undefined),
    }
    this.restore = replaceCalls(replacements)
  }

  /** Moves the times of instance folders and `owner` files back by the elapsed time. */
  passed(ms: number): void {
    const { root } = this.#options
    for (const destination of REAL.readdirSync(root)) {
      for (const name of REAL.readdirSync(join(root, destination)).filter((one) => one !== 'destination')) {
        for (const path of [join(root, destination, name, 'owner'), join(root, destination, name)]) {
          const stats = REAL.lstatSync(path, { throwIfNoEntry: false })
          if (stats !== undefined) REAL.utimesSync(path, (stats.mtimeMs - ms) / 1000, (stats.mtimeMs - ms) / 1000)
        }
      }
    }
  }

  #is(fault: Fault, path: unknown): boolean {
    return this.isActive && this.fault === fault && typeof path === 'string' && path.startsWith(this.#options.root)
  }

  #write(fd: number, data: Buffer | string, rest: never[]): number {
    if (!this.isActive || (this.fault !== 'short' && this.fault !== 'full'))
      return REAL.writeSync(fd, data as Buffer, ...rest)
    this.#calls += 1
    if (this.fault === 'full' && this.#calls % 2 === 0) throw errorOf('ENOSPC', 'write')
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    const [offset = 0, length = bytes.length - offset, position = null] = rest as unknown as [number?, number?, number?]
    return REAL.writeSync(fd, bytes, offset, Math.min(length, 1 + ((length * (1 + (this.#calls % 5))) >> 3)), position)
  }
}

/** Name of an instance folder without its suffix. */
export function instanceIn(path: string): string | undefined {
  return /^(.*)\.live$/.exec(basename(path))?.[1]
}

function errorOf(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected failure, ${syscall}`), { code, syscall })
}
