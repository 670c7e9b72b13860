/** The size that `start` reports for an installation, and how it shows void rounds. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { BENCHMARKS, tool } from './tools.js'
import type { Chart } from './tools.js'

interface Size {
  bytes: number
  files: number
  packages: number
  installScripts: string[]
  largest: { name: string; bytes: number }[]
}
const { sizeOf } = (await import(new URL('start/size.mjs', BENCHMARKS).href)) as { sizeOf: (folder: string) => Size }
const { startLines, startChart, sizeLines } = (await import(new URL('start/print.mjs', BENCHMARKS).href)) as {
  startLines: (starts: object[]) => string[]
  startChart: (starts: object[]) => Chart
  sizeLines: (installed: object[]) => string[]
}

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pino-ingest-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function put(file: string, bytes: number): void {
  const path = join(folder, 'node_modules', file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'x'.repeat(bytes))
}

it("counts files, packages and scripts, nested packages once, and omits npm's own files", () => {
  put('a/index.js', 100)
  put('a/lib/deep/more.js', 50)
  put('a/node_modules/b/index.js', 400)
  put('@scope/c/index.js', 30)
  mkdirSync(join(folder, 'node_modules/.bin'))
  symlinkSync('../a/index.js', join(folder, 'node_modules/.bin/a'))
  const packages = {
    'node_modules/a': {},
    'node_modules/a/node_modules/b': { hasInstallScript: true },
    'node_modules/@scope/c': {},
  }
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages }))
  expect(sizeOf(folder)).toEqual({
    bytes: 580,
    files: 4,
    packages: 3,
    installScripts: ['b'],
    largest: [
      { name: 'b', bytes: 400 },
      { name: 'a', bytes: 150 },
      { name: '@scope/c', bytes: 30 },
    ],
  })
})

const spread = (median: number) => ({ median, min: median - 1, max: median + 1 })
const empty = {
  name: 'empty',
  isOurs: false,
  void: [],
  spreads: { readyMs: spread(40), processMs: spread(90), cpuMs: spread(100), rssMib: spread(50) },
}
const failed = {
  name: 'failed',
  isOurs: false,
  waitMs: 50,
  void: ['round 1: its first record did not come'],
  spreads: {},
}
const whole = {
  name: 'whole',
  isOurs: true,
  waitMs: 100,
  void: [],
  spreads: {
    readyMs: spread(140),
    processMs: spread(190),
    firstMs: spread(290),
    cpuMs: spread(350),
    rssMib: spread(58),
  },
}

it('shows the difference from the empty worker, and void rounds', () => {
  const lines = startLines([empty, failed, whole])
  expect(lines.find((line) => line.startsWith('whole'))?.split(/ {2,}/)).toEqual([
    'whole',
    '140 (139 to 141)',
    '190 (189 to 191)',
    '350 (349 to 351)',
    '58 (57 to 59)',
    '290 (289 to 291)',
    '100',
    '250',
    '8',
  ])
  expect(lines.at(-1)).toBe('does not count: failed, round 1: its first record did not come')
})

const { svgOf } = await tool('chart')
const drawn = (starts: object[]): Promise<string> => svgOf(startChart(starts), '')

it('draws no bar without a valid round', async () => {
  const svg = await drawn([empty, failed, whole])
  expect(svg.match(/>no round counts<\/text>/g)).toHaveLength(2)
  expect(svg).toContain('290 · set to wait 100')
})

it('writes a number instead of a bar that would shrink all others', async () => {
  const slow = { ...whole, name: 'slow', spreads: { ...whole.spreads, readyMs: spread(1_000), firstMs: spread(2_000) } }
  const svg = await drawn([empty, whole, slow])
  expect(svg).toContain('>1,000, too long for this scale</text>')
  expect(svg).toContain('>2,000, too long for this scale</text>')
  expect(await drawn([empty, whole, { ...slow, spreads: whole.spreads }])).not.toContain('too long')
})

it("subtracts pino's own part", () => {
  const of = (name: string, mib: number, packages: number) => ({
    name,
    version: '1.0.0',
    isOurs: false,
    bytes: mib * 2 ** 20,
    files: 10 * packages,
    packages,
    installScripts: [],
    largest: [],
    tarballBytes: 2048,
  })
  const line = sizeLines([of('pino', 1, 3), of('a', 3.5, 5)]).find((one) => one.startsWith('a 1.0.0'))
  expect(line?.split(/ {2,}/)).toEqual(['a 1.0.0', '2', '2.50', '20', '2', 'none', '3.50'])
})
