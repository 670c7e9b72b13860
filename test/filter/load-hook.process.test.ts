/** Real files as `beforeSend` modules: every form of exporting a function, and the messages for invalid modules. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Secret } from '../../src/options/secret.js'
import { IngestError } from '../../src/shared/errors.js'
import { loadHook, loadHookSync } from '../../src/filter/load-hook.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'

const ENTRY: LogEntry = { level: 'info', message: 'm', timestamp: '2026-11-21T12:00:00.000Z' }
const ONLY_IMPORTABLE = /"awaits\.mjs": this ES module .* top-level await, or write it as CommonJS \(\.cjs\)$/
let folder: string

const GOOD: Readonly<Record<string, string>> = {
  'esm.mjs': 'export default (entry) => ({ ...entry, message: "hooked" })',
  'function.cjs': 'module.exports = (entry) => ({ ...entry, message: "hooked" })',
  'default.cjs': 'exports.default = (entry) => ({ ...entry, message: "hooked" })',
  'transpiled.cjs':
    'Object.defineProperty(exports, "__esModule", { value: true })\nexports.default = (entry) => ({ ...entry, message: "hooked" })',
  'wrapped.mjs': 'import transpiled from "./transpiled.cjs"\nexport default transpiled',
  'type-module/hook.js':
    'import { readFileSync } from "node:fs"\nexport default (entry) => ({ ...entry, message: readFileSync && "hooked" })',
  'type-module/package.json': '{"type":"module"}',
  'type-commonjs/hook.js': 'module.exports = (entry) => ({ ...entry, message: "hooked" })',
  'type-commonjs/package.json': '{"type":"commonjs"}',
  'with space & %20/höok.mjs': 'export default (entry) => ({ ...entry, message: "hooked" })',
}
const NEVER = 'await new Promise(() => {})\nexport default (entry) => entry'
const AWAITS = 'const message = await Promise.resolve("hooked")\nexport default (entry) => ({ ...entry, message })'

const BAD: readonly (readonly [string, string, RegExp])[] = [
  ['none.mjs', 'export const named = () => {}', /its default export is not a function; write/],
  [
    'object.cjs',
    'module.exports = { default: { default: { default: () => {} } } }',
    /its default export is not a function/,
  ],
  ['empty.cjs', '', /its default export is not a function/],
  ['throws.cjs', 'throw new TypeError("no database\\nmore")', /: TypeError: no database$/],
  ['throws-nothing.cjs', 'throw undefined', /: undefined$/],
  ['syntax.cjs', 'module.exports = (e) => {\n  return e e\n}', /: SyntaxError: Unexpected identifier.* \(line 2\)$/],
  ['needs.cjs', 'module.exports = require("./not-there.cjs")', /: Error: Cannot find module '\.\/not-there\.cjs'$/],
]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pino-ingest-hooks-'))
  for (const [name, text] of [...Object.entries(GOOD), ['awaits.mjs', AWAITS], ['never.mjs', NEVER], ...BAD] as [
    string,
    string,
  ][]) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const hooks = Object.keys(GOOD).filter((name) => !name.endsWith('.json'))

/** Loads a hook with the asynchronous and the synchronous function. */
async function both(path: string, cwd?: string): Promise<unknown[]> {
  return [await loadHook(path, [], cwd), loadHookSync(path, [], cwd)].map((hook) => hook(ENTRY))
}

async function faultsOf(path: string, cwd?: string, secrets: readonly Secret[] = []): Promise<IngestError[]> {
  const caught: unknown[] = [await loadHook(path, secrets, cwd).catch((error: unknown) => error)]
  try {
    caught.push(loadHookSync(path, secrets, cwd))
  } catch (error) {
    caught.push(error)
  }
  for (const error of caught) expect(error).toBeInstanceOf(IngestError)
  return caught as IngestError[]
}

describe('a function is loaded', () => {
  test.each(hooks)('from %s, by path, relative to a folder and as a URL', async (name) => {
    const file = join(folder, name)
    for (const [path, cwd] of [
      [file],
      [name, folder],
      [`./${name}`, folder],
      [relative(process.cwd(), file)],
      [pathToFileURL(file).href],
      [join('..', name), join(folder, 'none')],
    ] as const) {
      expect(await both(path, cwd)).toEqual([
        { ...ENTRY, message: 'hooked' },
        { ...ENTRY, message: 'hooked' },
      ])
    }
  })

  test('asynchronously only from a module with top-level await', () => {
    expect(() => loadHookSync('awaits.mjs', [], folder)).toThrow(ONLY_IMPORTABLE)
  })
})

describe('an unusable module is rejected', () => {
  test.each(BAD)('%s', async (name, _, reason) => {
    for (const error of await faultsOf(name, folder)) {
      expect(error).toMatchObject({ code: 'CONFIG', message: expect.stringMatching(reason) })
      expect(error.message.startsWith(`beforeSend: cannot use the module "${name}": `)).toBe(true)
      expect(error.cause).toBeUndefined()
    }
  })

  test.each(['not-there.cjs', 'type-module', './', 'https://example.com/hook.mjs', 'pino'])(
    '%s: not found',
    async (path) => {
      for (const error of await faultsOf(path, folder)) {
        expect(error).toMatchObject({ code: 'CONFIG' })
        for (const fact of ['beforeSend', JSON.stringify(path), 'not found', folder])
          expect(error.message).toContain(fact)
      }
    },
  )

  test.each([
    ['thrown by the module', 'quotes.cjs', 'throw new Error("no account for key-4711-secret")'],
    [
      'thrown by its default export',
      'getter.cjs',
      'module.exports = { get default() { throw new Error("no account for key-4711-secret") } }',
    ],
  ])('masks a secret in the error: %s', async (_, name, source) => {
    writeFileSync(join(folder, name), source)
    for (const { message, stack } of await faultsOf(name, folder, [new Secret('key-4711-secret')])) {
      expect(message).toMatch(/^beforeSend: .*: Error: no account for \*+$/)
      expect(stack).not.toContain('key-4711')
    }
  })

  test.each(['file://host.example/hook.mjs', 'file:', 'a\0b'])('%j, which is not a path', async (path) => {
    for (const error of await faultsOf(path, folder)) expect(error).toMatchObject({ code: 'CONFIG' })
  })
})

describe.each([
  ['imported', (file: string) => `import(${JSON.stringify(pathToFileURL(file).href)})`],
  ['required', (file: string) => `Promise.resolve(require(${JSON.stringify(file)}))`],
])('the built module, %s,', (_, load) => {
  const file = fileURLToPath(new URL('../../build/modules/filter/load-hook.js', import.meta.url))

  /** Prints one line per module: the message that its hook returns, or the error. */
  function run(names: readonly string[], flags: readonly string[] = [], clock = 'undefined'): string[] {
    const program = `${load(file)}.then(async ({ loadHook }) => {
      for (const name of JSON.parse(process.argv[1])) console.log(await loadHook(name, [], undefined, ${clock}).then((hook) => hook({}).message, (error) => error.message))
    })`
    return execFileSync(process.execPath, [...flags, '-e', program, JSON.stringify(names)], {
      cwd: folder,
      encoding: 'utf8',
    })
      .trim()
      .split('\n')
  }

  test('rejects a module whose top-level await never ends', () => {
    const clock = '{ timer: (ms, fire) => { setTimeout(fire, ms / 1000); return () => {} } }'
    expect(run(['never.mjs'], [], clock)).toEqual([expect.stringMatching(/beforeSend: .*never\.mjs.* 10 s/)])
  })

  test('loads every module, even with top-level await', () => {
    const names = [...hooks, 'awaits.mjs']
    expect(run(names)).toEqual(names.map(() => 'hooked'))
  })

  test('loads ES modules if Node cannot require them', () => {
    expect(run(['esm.mjs', 'function.cjs'], ['--no-experimental-require-module'])).toEqual(['hooked', 'hooked'])
  })

  test('the message says what to do if Node disallows code generation from strings', () => {
    const [all, awaits] = run(['esm.mjs', 'awaits.mjs'], ['--disallow-code-generation-from-strings'])
    expect([all, awaits]).toEqual(['hooked', expect.stringMatching(ONLY_IMPORTABLE)])
  })
})
