/** Original places of compiled code, from real maps, and from files that must not be read. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { BuildOptions } from 'esbuild'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SourcePosition } from '../../../src/service/query/api-types.js'
import { findSourcePositions, parseLocations } from '../../../src/service/source-maps/source-positions.js'

const ORDERS = `import { total } from './lib/total.js'

export function placeOrder(): number {
  // Long enough that lines and columns differ.
  return total([])
}`
const TOTAL = `interface Item { price: number }

export function total(items: readonly Item[]): number {
  if (items.length === 0) throw new RangeError('an order without items')
  return items.length
}`

let folder: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pino-ingest-maps-')))
  write('src/orders.ts', ORDERS)
  write('src/lib/total.ts', TOTAL)
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

async function bundle(options: BuildOptions = {}): Promise<string> {
  const outfile = join(folder, 'dist/orders.cjs')
  await build({
    entryPoints: [join(folder, 'src/orders.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    sourcemap: true,
    ...options,
  })
  return outfile
}

/** The places of the compiled file in the stack of the error that it throws. */
function placesOfError(file: string): string[] {
  const { placeOrder } = createRequire(import.meta.url)(file) as { placeOrder: () => number }
  try {
    placeOrder()
  } catch (error) {
    const places = [...((error as Error).stack ?? '').matchAll(/\(?([^ (]+:\d+:\d+)\)?$/gm)].map(
      ([, place = '']) => place,
    )
    return places.filter((place) => place.startsWith(file))
  }
  throw new Error('no error was thrown')
}

function find(...at: string[]): Promise<(SourcePosition | null)[]> {
  return findSourcePositions(parseLocations({ at }), () => true)
}

/** A map with one mapping: column 1 of line 1 is line 7, column 5 of the first source. */
const map = (source: unknown, more: object = {}) =>
  JSON.stringify({ version: 3, sources: [source], names: [], mappings: 'AAMI', ...more })

/** Finds the place of a file that has this map. */
async function mapped(text: string, comment = '//# sourceMappingURL=a.js.map'): Promise<SourcePosition | null> {
  const file = write('dist/a.js', `throw Error()\n${comment}\n`)
  write('dist/a.js.map', text)
  const [found = null] = await find(`${file}:1:1`)
  return found
}

const ORIGINAL = { line: 7, column: 5, name: null }

describe('a minified bundle', () => {
  const thrownAt = () => ({ file: join(folder, 'src/lib/total.ts'), line: 4, column: 33 })
  const calledAt = () => ({ file: join(folder, 'src/orders.ts'), line: 5, column: 10 })

  test.each<[string, BuildOptions]>([
    ['a map beside it', {}],
    ['a map without a comment', { sourcemap: 'external' }],
    ['a map in the file', { sourcemap: 'inline' }],
    ['a source root', { sourceRoot: '../dist' }],
  ])('with %s', async (_, options) => {
    const file = await bundle(options)
    const found = await find(...placesOfError(file))
    expect(found).toMatchObject([thrownAt(), calledAt()])
    expect(found.map((one) => one?.name)).toEqual([null, 'total'])
  })

  test('places of several files, in the order of the request', async () => {
    const file = await bundle()
    const [thrown = '', called = ''] = placesOfError(file)
    const other = write('dist/b.js', `x\n//# sourceMappingURL=data:application/json,${encodeURIComponent(map('b.ts'))}`)
    expect(await find(called, `${other}:1:1`, '/nowhere.js:1:1', thrown)).toMatchObject([
      calledAt(),
      { file: join(folder, 'dist/b.ts'), ...ORIGINAL },
      null,
      thrownAt(),
    ])
  })
})

describe('the name of a source', () => {
  test.each<[string, unknown, string | null, object?]>([
    ['a path relative to the map', '../src/a.ts', 'src/a.ts'],
    ['encoded', '../src/my%20app.ts', 'src/my app.ts'],
    ['a source root', 'a.ts', 'src/a.ts', { sourceRoot: '../src' }],
    ['characters that URLs encode, as they are', '../src/[id]/100%#1?.ts', 'src/[id]/100%#1?.ts'],
    ['of webpack', 'webpack://app/./src/orders.ts', 'src/orders.ts'],
    ['a text that is no URL', '../src/%zz.ts', null],
    ['of another host', 'file://host/a.ts', null],
    ['of the web', 'https://example.com/a.ts', null],
    ['a number', 7, null],
  ])('%s', async (_, source, expected, more) => {
    write('src/[id]/100%#1?.ts', '')
    const found = await mapped(map(source, more))
    expect(found).toEqual(expected === null ? null : { file: join(folder, expected), ...ORIGINAL })
  })
})

test('a source is relative to its map, in whichever folder that is', async () => {
  write('maps/deep/a.map', map('../a.ts'))
  const found = await mapped(map('b.ts'), '//# sourceMappingURL=../maps/deep/a.map?v=1')
  expect(found).toEqual({ file: join(folder, 'maps/a.ts'), ...ORIGINAL })
})

test('a map in sections', async () => {
  const section = (line: number, column: number, source: string) => ({
    offset: { line, column },
    map: JSON.parse(map(source, { mappings: 'AAMI,IACA' })) as object,
  })
  const text = JSON.stringify({ version: 3, sections: [section(0, 4, 'a.ts'), section(1, 0, 'b.ts')] })
  await mapped(text)
  const file = join(folder, 'dist/a.js')
  expect(
    (await find(`${file}:1:1`, `${file}:1:5`, `${file}:1:9`, `${file}:2:3`)).map((one) => one && [one.file, one.line]),
  ).toEqual([null, [join(folder, 'dist/a.ts'), 7], [join(folder, 'dist/a.ts'), 8], [join(folder, 'dist/b.ts'), 7]])
})

test.each([
  ...['lost.map', 'https://example.com/a.map', '/etc/passwd', '%zz'].map((url) => `//# sourceMappingURL=${url}`),
  ...['application/json;base64,!!!!', ''].map((data) => `//# sourceMappingURL=data:${data}`),
  "/* how to: */ f('//# sourceMappingURL=none.map'",
])('%s does not hide the map beside the file', async (code) => {
  write('dist/a.txt', map('b.ts'))
  expect(await mapped(map('a.ts'), code)).toEqual({ file: join(folder, 'dist/a.ts'), ...ORIGINAL })
})

test.each(['\uFEFF', ")]}'\n", "\uFEFF)]}', x\n"])('a map after %j', async (prefix) => {
  expect(await mapped(prefix + map('a.ts'))).toMatchObject(ORIGINAL)
  const url = `data:application/json,${encodeURIComponent(prefix + map('a.ts')).replaceAll("'", '%27')}`
  expect(await mapped('{}', `//# sourceMappingURL=${url}`)).toMatchObject(ORIGINAL)
})

describe('no place, and no error, for', () => {
  test.each([
    ['a map that is not JSON', '{"version":3,'],
    ['a map without mappings', '{"version":3,"sources":["a.ts"]}'],
    ['mappings that are invalid', map('a.ts', { mappings: '~~~' })],
    ['sections without offset', '{"sections":[{}]}'],
    [
      'a map nested 100,000 times',
      `${'{"sections":[{"offset":{"line":0,"column":0},"map":'.repeat(1e5)}1${'}]}'.repeat(1e5)}`,
    ],
  ])('%s', async (_, text) => expect(await mapped(text)).toBeNull())

  test('a file that is missing, relative, or no script', async () => {
    const text = write('dist/a.txt', `x\n//# sourceMappingURL=data:application/json,${encodeURIComponent(map('a.ts'))}`)
    mkdirSync(join(folder, 'dist/folder.js'))
    const files = [join(folder, 'lost.js'), text, join(folder, 'dist/folder.js'), 'dist/a.js', '//host/a.js']
    expect(await find(...files.map((file) => `${file}:1:1`))).toEqual(files.map(() => null))
  })

  test('a FIFO without a writer, as the file and as its map', async () => {
    const file = write('dist/a.js', 'throw Error()')
    for (const name of ['fifo.js', 'a.js.map']) execFileSync('mkfifo', [join(folder, 'dist', name)])
    expect(await find(`${join(folder, 'dist/fifo.js')}:1:1`, `${file}:1:1`)).toEqual([null, null])
  })

  test('a file and a map of more than 20 MB', async () => {
    expect(await mapped(`${map('a.ts')}${' '.repeat(1000)}`)).toMatchObject(ORIGINAL)
    writeFileSync(join(folder, 'dist/a.js.map'), map('a.ts').padEnd(20e6))
    expect(await find(`${join(folder, 'dist/a.js')}:1:1`)).toMatchObject([ORIGINAL])
    writeFileSync(join(folder, 'dist/a.js.map'), map('a.ts').padEnd(20e6 + 1))
    expect(await find(`${join(folder, 'dist/a.js')}:1:1`)).toEqual([null])
    truncateSync(join(folder, 'dist/a.js'), 1e12)
    expect(await find(`${join(folder, 'dist/a.js')}:1:1`)).toEqual([null])
  })

  test('files beyond 60 MB in one request', async () => {
    const at = ['a', 'b', 'c', 'd'].map((name) => {
      write(`dist/${name}.js.map`, map('a.ts'))
      return `${write(`dist/${name}.js`, 'x'.padEnd(19e6))}:1:1`
    })
    expect(await find(...at)).toMatchObject([ORIGINAL, ORIGINAL, ORIGINAL, null])
  })
})

describe('the lines around the first place', () => {
  const own = fileURLToPath(import.meta.url)
  const linesOf = async (stack: string, ...at: string[]) => {
    const found = await findSourcePositions(parseLocations({ at }), () => true, stack)
    return found.map((one) => one?.lines?.text ?? null)
  }

  test('are those of the map', async () => {
    const [thrown = '', called = ''] = placesOfError(await bundle())
    const lines = TOTAL.split('\n').slice(2, 5)
    expect(await linesOf(`RangeError\n    at t (${thrown})\n    at ${called}`, thrown, called)).toEqual([lines, null])
  })

  test.each<[string, (path: string) => [place: string, stack?: string]]>([
    ['that the stack does not name', (path) => [`${path}:1:1`, 'Error\n    at /app/a.ts:1:1']],
    ['whose path is the end of another', (path) => [`${path}:1:1`, `Error\n    at /x${path}:1:1`]],
    ['outside of the working directory', () => [`${write('a.ts', 'secret')}:1:1`]],
    ['that is no script', () => [`${join(process.cwd(), 'package.json')}:1:1`]],
  ])('are not those of a file %s', async (_, of) => {
    const [place, stack = `Error\n    at ${place}`] = of(own)
    expect(await linesOf(stack, place)).toEqual([null])
  })

  test('a link out of the working directory, and minified code, have none', async () => {
    const below = mkdtempSync(join(process.cwd(), 'node_modules/.cache-lines-'))
    const link = join(below, 'a.ts')
    const long = join(below, 'b.js')
    symlinkSync(write('a.ts', 'secret'), link)
    writeFileSync(long, 'x'.repeat(501))
    for (const place of [`${link}:1:1`, `${long}:1:1`]) expect(await linesOf(`    at ${place}`, place)).toEqual([null])
    rmSync(below, { recursive: true })
  })
})

test('a request that nobody waits for reads nothing', async () => {
  await mapped(map('a.ts'))
  expect(await findSourcePositions(parseLocations({ at: [`${join(folder, 'dist/a.js')}:1:1`] }), () => false)).toEqual(
    [],
  )
})
