/** Imports point from higher layers to lower ones and form no cycle. */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')

/** Folders by layer, the lowest first. A module may import from its own folder and from lower layers. */
const LAYERS: readonly (readonly string[])[] = [
  ['protocol', 'shared', 'version'],
  ['diagnostics', 'redaction', 'batch'],
  ['options'],
  ['record'],
  ['client', 'nats'],
  ['breadcrumbs', 'filter', 'request-logs'],
  ['spool'],
  ['delivery'],
  ['pipeline'],
  ['transport'],
  ['app'],
  ['index', 'augment'],
  ['service', 'forward'],
  ['cli'],
]

interface Source {
  readonly name: string
  readonly text: string
  readonly imports: readonly string[]
  readonly packages: readonly string[]
}

const files = (readdirSync(src, { recursive: true }) as string[]).filter((name) => /\.(?:tsx?|cjs)$/.test(name))
/** Imports end in `.js`; the source file ends in `.ts`. */
function sourceOf(module: string): string {
  if (module.endsWith('.cjs')) return module
  const name = module.replace(/\.js$/, '')
  return files.includes(`${name}.tsx`) ? `${name}.tsx` : `${name}.ts`
}

const sources = new Map<string, Source>(
  files.map((name) => {
    const path = join(src, name)
    const text = readFileSync(path, 'utf8')
    const specifiers = [...text.matchAll(/(?:\bfrom|\bimport|\brequire\()\s*\(?'([^']+)'/g)].map(
      (match) => match[1] as string,
    )
    const imports = specifiers
      .filter((one) => one.startsWith('.'))
      .map((one) => sourceOf(relative(src, resolve(dirname(path), one))))
    return [name, { name, text, imports, packages: specifiers.filter((one) => !one.startsWith('.')) }]
  }),
)

function folderOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '')
}

function layerOf(file: string): number {
  return LAYERS.findIndex((folders) => folders.includes(folderOf(file)))
}

/** All modules that loading `file` loads. */
function reachedFrom(file: string, reached = new Set<string>()): Set<string> {
  if (reached.has(file)) return reached
  reached.add(file)
  for (const next of sources.get(file)?.imports ?? []) reachedFrom(next, reached)
  return reached
}

test('every import resolves to a file, and every file has a layer', () => {
  const lost = [...sources.values()].flatMap(({ name, imports }) =>
    imports.filter((to) => !sources.has(to)).map((to) => `${name} -> ${to}`),
  )
  expect(lost).toEqual([])
  expect(files.filter((file) => layerOf(file) === -1)).toEqual([])
})

test('imports point to lower layers, or stay in their folder', () => {
  const wrong = [...sources.values()].flatMap(({ name, imports }) =>
    imports
      .filter((to) => folderOf(to) !== folderOf(name) && layerOf(to) >= layerOf(name))
      .map((to) => `${name} -> ${to}`),
  )
  expect(wrong).toEqual([])
})

test('the service imports only protocol, shared and version', () => {
  const wrong = [...sources.values()]
    .filter(({ name }) => folderOf(name) === 'service')
    .flatMap(({ name, imports }) =>
      imports
        .filter((to) => !['service', 'protocol', 'shared', 'version'].includes(folderOf(to)))
        .map((to) => `${name} -> ${to}`),
    )
  expect(wrong).toEqual([])
})

test('the protocol imports nothing', () => {
  const wrong = [...sources.values()]
    .filter(({ name }) => folderOf(name) === 'protocol')
    .flatMap(({ name, imports, packages }) =>
      [...imports.filter((to) => folderOf(to) !== 'protocol'), ...packages].map((to) => `${name} -> ${to}`),
    )
  expect(wrong).toEqual([])
})

test('there are no import cycles', () => {
  expect(findCycles(new Map(files.map((file) => [file, new Set(sources.get(file)?.imports)])))).toEqual([])
})

test.each([...new Set(files.flatMap(foldersAbove))])('the parts of %s import each other in one direction', (folder) => {
  /** A file directly in the folder, or a folder in it with all its files; `..` for files outside. */
  const partOf = (file: string): string => relative(folder, file).split('/', 1)[0] as string
  const arrows = new Map<string, Set<string>>()
  for (const { name, imports } of sources.values()) {
    const from = partOf(name)
    const to = imports.map(partOf).filter((part) => part !== from)
    arrows.set(from, new Set([...(arrows.get(from) ?? []), ...to]))
  }
  arrows.delete('..')
  expect(findCycles(arrows)).toEqual([])
})

function foldersAbove(file: string): string[] {
  const folder = dirname(file)
  return folder === '.' ? ['.'] : [folder, ...foldersAbove(folder)]
}

function findCycles(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (from: string, path: readonly string[]): void => {
    if (path.includes(from)) cycles.push([...path.slice(path.indexOf(from)), from].join(' -> '))
    if (path.includes(from) || done.has(from)) return
    for (const next of arrows.get(from) ?? []) visit(next, [...path, from])
    done.add(from)
  }
  for (const from of arrows.keys()) visit(from, [])
  return cycles
}

describe('index.ts', () => {
  const reached = reachedFrom('index.ts')

  test('does not load the service or the command line', () => {
    expect([...reached].filter((file) => ['service', 'cli'].includes(folderOf(file)))).toEqual([])
  })

  test('loads undici only at the first request', () => {
    const early = [...reached].filter((file) => /^import (?!type\b).*'undici[/']/m.test(sources.get(file)?.text ?? ''))
    expect(early).toEqual([])
  })
})

test('the worker loads none of the helpers for the main thread', () => {
  const loaded = [...reachedFrom('transport/worker.ts')]
  expect(loaded.filter((file) => ['app', 'cli', 'service'].includes(folderOf(file)))).toEqual([])
})

test('only options/ and cli/ read the environment', () => {
  const readers = [...sources.values()].filter(({ text }) => /\bprocess\.env\b/.test(text)).map(({ name }) => name)
  expect(readers.filter((name) => folderOf(name) !== 'options' && folderOf(name) !== 'cli')).toEqual([])
})

test('src/README.md names every folder', () => {
  const readme = readFileSync(join(src, 'README.md'), 'utf8')
  const folders = [...new Set(files.map(folderOf))]
  expect(folders.filter((folder) => !new RegExp(`\\b${folder}(?:/|\\.ts)`).test(readme))).toEqual([])
})

test('the version matches package.json', async () => {
  const { VERSION } = await import('../src/version.js')
  expect(VERSION).toBe((JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version)
})
