/** The size that `start` reports for an installation, and how it shows void rounds. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { load } from './tools.js'

const { sizeOf } = await load('start/size')
const { startLines, startChart } = await load('start/print')

it("counts files, packages and scripts, nested packages once, and omits npm's own files", () => {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-test-'))
  const put = (file: string, text: string): void => {
    const path = join(folder, 'node_modules', file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  try {
    put('a/index.js', 'x'.repeat(100))
    put('a/lib/deep/more.js', 'x'.repeat(50))
    put('a/node_modules/b/index.js', 'x'.repeat(400))
    put('@scope/c/index.js', 'x'.repeat(30))
    const packages = {
      'node_modules/a': {},
      'node_modules/a/node_modules/b': { hasInstallScript: true },
      'node_modules/@scope/c': {},
    }
    put('.package-lock.json', JSON.stringify({ packages }))
    mkdirSync(join(folder, 'node_modules/.bin'))
    symlinkSync('../a/index.js', join(folder, 'node_modules/.bin/a'))
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
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('shows the difference from the empty worker, void rounds, and no bar that would shrink all others', () => {
  const start = (name: string, readyMs?: number) => {
    const spread = (median: number) => ({ median, min: median, max: median })
    const spreads = readyMs && { readyMs: spread(readyMs), cpuMs: spread(2 * readyMs), rssMib: spread(50) }
    return {
      name,
      isOurs: name === 'ours',
      waitMs: 50,
      void: spreads ? [] : ['round 1: no record'],
      spreads: spreads || {},
    }
  }
  const starts = [start('empty', 40), start('failed'), start('ours', 140), start('slow', 1_000)]
  const lines: string[] = startLines(starts)
  expect(lines.find((line) => line.startsWith('ours'))).toMatch(/ 200 +0$/)
  expect(lines.at(-1)).toBe('does not count: failed, round 1: no record')
  const chart = JSON.stringify(startChart(starts).plot(400))
  expect(chart).toContain('no round counts')
  expect(chart).toContain('1,000, too long for this scale')
})
