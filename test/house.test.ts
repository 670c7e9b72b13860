/** The house's rules: imports point one way, run in no circle, and rooms stay small. */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')

/** Rooms by floor: a room may import from its own and from lower floors, never from a neighbour on its floor. */
const FLOORS: readonly (readonly string[])[] = [
  ['protocol', 'shared'],
  ['errors', 'sender', 'clock', 'version', 'engine', 'backoff', 'account', 'mask', 'unprintable', 'local-proof', 'scrub'],
  ['options', 'parts', 'entry-log', 'notice', 'flush-message', 'release-message'],
  ['record', 'batch', 'client', 'report', 'pino-config'],
  ['trail', 'filter', 'request-logs', 'app'],
  ['spool'],
  ['delivery'],
  ['intake', 'channel'],
  ['pipeline'],
  ['flush-listener'],
  ['transport'],
  ['stream'],
  ['index', 'augment'],
  ['cli'],
]

interface Source {
  readonly name: string
  readonly text: string
  readonly imports: readonly string[]
  readonly packages: readonly string[]
}

const files = (readdirSync(src, { recursive: true }) as string[]).filter((name) => /\.(?:tsx?|cjs)$/.test(name))
/** A module is imported by the name that it will have. */
function sourceOf(module: string): string {
  if (module.endsWith('.cjs')) return module
  const name = module.replace(/\.js$/, '')
  return files.includes(`${name}.tsx`) ? `${name}.tsx` : `${name}.ts`
}

const sources = new Map<string, Source>(files.map((name) => {
  const path = join(src, name)
  const text = readFileSync(path, 'utf8')
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport|\brequire\()\s*\(?'([^']+)'/g)].map((match) => match[1] as string)
  const imports = specifiers.filter((one) => one.startsWith('.'))
    .map((one) => sourceOf(relative(src, resolve(dirname(path), one))))
  return [name, { name, text, imports, packages: specifiers.filter((one) => !one.startsWith('.')) }]
}))

function roomOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '')
}

function floorOf(file: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(roomOf(file)))
}

test('every import leads to a file, and every file has its floor', () => {
  const lost = [...sources.values()].flatMap(({ name, imports }) =>
    imports.filter((to) => !sources.has(to)).map((to) => `${name} -> ${to}`))
  expect(lost).toEqual([])
  expect(files.filter((file) => roomOf(file) !== 'service' && floorOf(file) === -1)).toEqual([])
})

test('imports point down, or stay in their room', () => {
  const wrong = [...sources.values()].filter(({ name }) => roomOf(name) !== 'service').flatMap(({ name, imports }) =>
    imports.filter((to) => roomOf(to) !== roomOf(name) && floorOf(to) >= floorOf(name)).map((to) => `${name} -> ${to}`))
  // The command line starts the local service, and is the only one to know it.
  expect(wrong.filter((edge) => !/^cli\/.* -> service\//.test(edge))).toEqual([])
  const known = [...sources.values()].flatMap(({ name, imports }) =>
    imports.filter((to) => roomOf(to) === 'service' && !['service', 'cli'].includes(roomOf(name))).map((to) => `${name} -> ${to}`))
  expect(known).toEqual([])
})

test('the service stands aside, on protocol, shared modules and the proof that its clients ask for', () => {
  const wrong = [...sources.values()].filter(({ name }) => roomOf(name) === 'service').flatMap(({ name, imports }) =>
    imports.filter((to) => !['service', 'protocol', 'shared', 'version', 'engine', 'local-proof'].includes(roomOf(to))).map((to) => `${name} -> ${to}`))
  expect(wrong).toEqual([])
})

test('the protocol imports nothing', () => {
  const wrong = [...sources.values()].filter(({ name }) => roomOf(name) === 'protocol').flatMap(({ name, imports, packages }) =>
    [...imports.filter((to) => roomOf(to) !== 'protocol'), ...packages].map((to) => `${name} -> ${to}`))
  expect(wrong).toEqual([])
})

test('no import runs in a circle', () => {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (path.includes(file) || done.has(file)) return
    for (const next of sources.get(file)?.imports ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  expect(circles).toEqual([])
})

describe('the front door', () => {
  const reached = new Set<string>()
  const walk = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    for (const next of sources.get(file)?.imports ?? []) walk(next)
  }
  walk('index.ts')

  test('loads neither the service nor the command line', () => {
    expect([...reached].filter((file) => ['service', 'cli'].includes(roomOf(file)))).toEqual([])
  })

  test('loads undici at the first request, not before', () => {
    const early = [...reached].filter((file) => /^import (?!type\b).*'undici'/m.test(sources.get(file)?.text ?? ''))
    expect(early).toEqual([])
  })
})

test('files have at most 250 lines, or a reason in src/README.md', () => {
  const readme = readFileSync(join(src, 'README.md'), 'utf8')
  const long = [...sources.values()].filter(({ text }) => text.split('\n').length > 251).map(({ name }) => name)
  expect(long.filter((name) => !readme.includes(`\`${name}\` is longer`))).toEqual([])
})

test('only the options and the command line read the environment', () => {
  const readers = [...sources.values()].filter(({ text }) => /\bprocess\.env\b/.test(text)).map(({ name }) => name)
  expect(readers.filter((name) => roomOf(name) !== 'options' && roomOf(name) !== 'cli')).toEqual([])
})

test('src/README.md names every room', () => {
  const readme = readFileSync(join(src, 'README.md'), 'utf8')
  const rooms = [...new Set(files.map(roomOf))]
  expect(rooms.filter((room) => !new RegExp(`\\b${room}(?:/|\\.ts)`).test(readme))).toEqual([])
})

test('the version is that of package.json', async () => {
  const { VERSION } = await import('../src/version.js')
  expect(VERSION).toBe((JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version)
})
