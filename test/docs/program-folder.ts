/** Runs a block of a page as a user would: as a program of its own, in a folder where the packages that it names are installed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { root } from '../markdown.js'
import { cleanEnv } from '../process/run-app.js'

export interface ProgramResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Where it ran from. */
  readonly file: string
}

const PACKAGES = ['pino', 'express', 'fastify', 'pino-http']
const ON_FIXED_PORT = /\.listen\((?:\{ port: )?3000\b/
const VISIT_SERVER = new URL('visit-server.mjs', import.meta.url).href

export class ProgramFolder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'pino-ingest-readme-')))

  constructor() {
    mkdirSync(join(this.path, 'node_modules'))
    for (const name of PACKAGES)
      symlinkSync(join(root, 'node_modules', name), join(this.path, 'node_modules', name), 'junction')
    symlinkSync(root, join(this.path, 'node_modules/pino-ingest'), 'junction')
  }

  /** A block whose first line is a comment with a file's name is that file, and stays there for those after it. */
  async run(code: string, extension: 'mjs' | 'cjs', env: Record<string, string>): Promise<ProgramResult> {
    const [, name = `app.${extension}`] = /^\/\/ ([\w-]+\.[cm]js)\n/.exec(code) ?? []
    const file = join(this.path, name)
    writeFileSync(file, code)
    // Servers on a port of their own choice belong to programs that end by themselves.
    const flags = ON_FIXED_PORT.test(code) ? ['--import', VISIT_SERVER] : []
    const child = spawn(process.execPath, [...flags, file], {
      cwd: this.path,
      env: cleanEnv(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [[exitCode], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ])
    return { code: exitCode as number | null, stdout, stderr, file }
  }

  remove(): void {
    rmSync(this.path, { recursive: true })
  }
}
