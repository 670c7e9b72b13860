/** What `npm pack` takes: all of what was built, the pages that are linked, and nothing else. */
import { exec, execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>

/** The package is promised to be small. */
const MAX_PACKED_BYTES = 660_000
const MAX_UNPACKED_BYTES = 1_750_000
const MAX_DIST_BYTES = 1_500_000

interface Packed {
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

let packed: Packed
let paths: readonly string[]

beforeAll(async () => {
  // Without scripts: `prepack` builds, and would take `dist` away from under other tests.
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  })
  packed = (JSON.parse(stdout) as Packed[])[0] as Packed
  paths = packed.files.map(({ path }) => path)
}, 120_000)

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const built = (folder: string): string[] =>
  (readdirSync(join(root, folder), { recursive: true }) as string[])
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => statSync(join(root, path)).isFile())

/** Files of the package that this text loads. Lines are broken within strings, too. */
function loadedBy(path: string): string[] {
  const text = read(path).replaceAll('\\\n', '')
  return [...text.matchAll(/(?:\bfrom\s*|\brequire\(\s*|\bimport\s*\(?\s*)["'](\.[^"']+)["']/g)].map(
    ([, target = '']) => {
      const file = posix.join(posix.dirname(path), target)
      return path.endsWith('.d.ts') ? file.replace(/\.js$/, '.d.ts') : file
    },
  )
}

/** Files that a page links to, and shows; addresses of other sites are left out. */
function linkedFrom(page: string): string[] {
  const text = read(page).replace(/^```[\s\S]*?^```$/gm, '')
  return [...text.matchAll(/(?:\]\(|\bsrc(?:set)?=")([^)"#\s]+)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target))
    .map((target) => posix.normalize(posix.join(posix.dirname(page), target)))
}

/** What a reader gets to from the README, by links within the package. */
function linkedFiles(): string[] {
  const found = new Set(['README.md'])
  for (const file of found) if (file.endsWith('.md')) for (const target of linkedFrom(file)) found.add(target)
  return [...found]
}

test('all that is built is in it', () => {
  expect(paths.filter((path) => path.startsWith('dist/')).toSorted()).toEqual(built('dist').toSorted())
})

test('what is built is reached from the entry points, and nothing that they load is missing', () => {
  const reached = new Set([...entryFiles(), 'dist/cjs/package.json'])
  for (const path of reached) {
    if (/\.js$|\.d\.ts$/.test(path)) for (const next of loadedBy(path)) reached.add(next)
    if (path.endsWith('.js') && read(path).includes('//# sourceMappingURL=')) reached.add(`${path}.map`)
  }
  expect([...reached].filter((path) => path.startsWith('dist/')).toSorted()).toEqual(built('dist').toSorted())
})

test('it loads each dependency, and no package that is not one', () => {
  const loaded = new Set(
    paths
      .filter((path) => path.endsWith('.js'))
      .flatMap((path) => [
        ...read(path)
          .replaceAll('\\\n', '')
          .matchAll(/\brequire\(\s*["']((?:@[\w-]+\/)?[\w-]+)["'/]/g),
      ])
      .map(([, name = '']) => name),
  )
  const { dependencies, peerDependencies } = manifest as Record<string, Record<string, string>>
  const needed = Object.keys(dependencies ?? {})
  expect(needed.length).toBeGreaterThan(0)
  expect(needed.filter((name) => !loaded.has(name))).toEqual([])
  expect([...loaded].filter((name) => !isBuiltin(name) && !(name in { ...dependencies, ...peerDependencies }))).toEqual(
    [],
  )
})

test('beside that there are pages, the licence and package.json, and nothing else', () => {
  const others = paths.filter((path) => !path.startsWith('dist/'))
  expect(
    others
      .filter((path) => !/^(?:README\.md|docs\/[\w-]+\.(?:md|json|yml)|docs\/images\/[\w-]+\.(?:svg|png))$/.test(path))
      .toSorted(),
  ).toEqual(['CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'package.json'])
  expect(read('dist/cjs/re2js.js')).toContain('Copyright (c) 2023 Oleksii Vasyliev')
})

test('npm publish refuses while the address is a placeholder', async () => {
  const [command = ''] = (manifest['scripts'] as Record<string, string>)['prepublishOnly']?.split(' && ') ?? []
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-publish-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const publish = (owner: string): Promise<unknown> => {
    const repository = { url: `git+https://github.com/${owner}/pino-ingest.git` }
    writeFileSync(join(dir, 'package.json'), JSON.stringify({ ...manifest, repository }))
    return promisify(exec)(command, { cwd: dir })
  }
  await expect(publish('OWNER')).rejects.toThrow('OWNER')
  await publish('example')
})

const pages = (): string[] => paths.filter((path) => path.endsWith('.md'))

test('each relative link of a page in it leads to a file in it', () => {
  expect(pages().length).toBeGreaterThan(20)
  const broken = pages().flatMap((page) =>
    linkedFrom(page)
      .filter((target) => !paths.includes(target))
      .map((target) => `${page}: ${target}`),
  )
  expect(broken).toEqual([])
})

test('the README leads to every page and picture in it', () => {
  const linked = linkedFiles()
  expect(paths.filter((path) => path.startsWith('docs/') && !linked.includes(path))).toEqual([])
})

/** Files that package.json names. */
function entryFiles(): string[] {
  const targets = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value === 'string' && /\/.*\.(?:js|d\.ts|json)$/.test(value)) targets.add(posix.normalize(value))
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect)
  }
  for (const field of ['main', 'module', 'types', 'exports', 'typesVersions', 'bin']) collect(manifest[field])
  return [...targets]
}

test('files with side effects are named, so that a bundler keeps them', () => {
  const named = manifest['sideEffects'] as readonly string[]
  const files = named.map(posix.normalize).flatMap((name) => ['cjs', 'esm'].map((format) => name.replace('*', format)))
  expect(files.filter((name) => !paths.includes(name))).toEqual([])
})

test('it contains no path of the build machine, and no sources but by their names', () => {
  const registry = process.env['npm_config_registry']
  const hosts = [/registry\.npmjs\.org/, ...(registry === undefined ? [] : [literal(new URL(registry).host)])]
  const traces = [literal(root), new RegExp(`(?<![\\w.])${literal(homedir()).source}/`), ...hosts]
  const telling = paths.flatMap((path) => {
    const text = read(path)
    return traces.filter((trace) => trace.test(text)).map((trace) => `${path}: ${String(trace)}`)
  })
  expect(telling).toEqual([])
  expect(paths.filter((path) => /(?<!\.d)\.[cm]?tsx?$/.test(path))).toEqual([])
  const maps = paths.filter((path) => path.endsWith('.map'))
  expect(maps.length).toBeGreaterThan(0)
  for (const path of maps) {
    const map = JSON.parse(read(path)) as { sourceRoot: string; sources: string[]; sourcesContent?: unknown }
    expect(map.sourcesContent).toBeUndefined()
    const sources = map.sources.map((source) => posix.join(posix.dirname(path), map.sourceRoot, source))
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([])
  }
})

function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
}

test('it has not grown unnoticed', () => {
  const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000)} kB`
  process.stdout.write(
    `npm pack: ${kilobytes(packed.size)} packed, ${kilobytes(packed.unpackedSize)} unpacked, ${paths.length} files\n`,
  )
  expect(packed.size).toBeLessThanOrEqual(MAX_PACKED_BYTES)
  const dist = packed.files.filter(({ path }) => path.startsWith('dist/')).map(({ size }) => size)
  expect(dist.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(MAX_DIST_BYTES)
  expect(packed.unpackedSize).toBeLessThanOrEqual(MAX_UNPACKED_BYTES)
})
