/** Runs a block of a page as a user would: as a program of its own, in a folder where the packages that it names are installed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import ts from 'typescript-5.9'
import { root } from '../markdown.js'
import { cleanEnv } from '../process/run-app.js'

export interface ProgramResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Where it ran from. */
  readonly file: string
}

const PACKAGES = [
  'pino',
  '@opentelemetry/api',
  '@opentelemetry/sdk-metrics',
  'express',
  'fastify',
  'pino-http',
  '@nestjs/common',
  '@nestjs/core',
  'nestjs-pino',
  'koa',
  'koa-pino-logger',
  'hono',
  '@hono/node-server',
  'hono-pino',
]
const ON_FIXED_PORT = /(?:\.listen\(|\bport: )3000\b/
/** As in a new project of Nest, whose imports name no extension. */
const COMPILER_OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.CommonJS,
  esModuleInterop: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
}
const VISIT_SERVER = new URL('visit-server.mjs', import.meta.url).href

export class ProgramFolder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'pino-ingest-readme-')))

  constructor() {
    for (const name of PACKAGES) this.#install(name, join(root, 'node_modules', name))
    this.#install('pino-ingest', root)
  }

  /** A block whose first line is a comment with a file's name is that file, and stays there for those after it. */
  async run(code: string, extension: 'mjs' | 'cjs' | 'ts', env: Record<string, string>): Promise<ProgramResult> {
    const [, name = `app.${extension}`] = /^\/\/ ([\w.-]+\.(?:[cm]js|ts))\n/.exec(code) ?? []
    const file = join(this.path, name.replace(/\.ts$/, '.js'))
    writeFileSync(file, extension === 'ts' ? ts.transpile(code, COMPILER_OPTIONS, name) : code)
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

  #install(name: string, from: string): void {
    const link = join(this.path, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(from, link, 'junction')
  }

  remove(): void {
    rmSync(this.path, { recursive: true })
  }
}
