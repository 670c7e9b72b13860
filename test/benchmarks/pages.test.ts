/** Numbers of benchmarks in README.md and docs are those of the stored results, with their commit. */
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PAGES, prose, readText, sectionOf } from '../markdown.js'
import { BENCHMARKS, load } from './tools.js'

interface Kept {
  question: string
  commit: string | null
  date: string
  versions: { node: string }
  options: Record<string, number>
  // oxlint-disable-next-line typescript/no-explicit-any -- each question has its own
  result: any
}
type Stored = (name: string) => Kept
const pages = (await load('tools/pages')) as {
  BLOCK: RegExp
  BLOCKS: Record<string, (stored: Stored) => string[]>
  PAGES: string[]
  ON_PAGES: string[]
  PICTURES: Record<string, string>
  withResults: (page: string, stored: Stored, onError: (name: string, error: unknown) => void) => string
}
const { footerOf } = await load('tools/results')
const { question: throughput } = await load('throughput/question')
const { svgOf } = await load('tools/chart')

const RESULTS = readdirSync(new URL('results/', BENCHMARKS))
const stored: Stored = (name) => JSON.parse(readText(`benchmarks/results/${name}.json`)) as Kept
const questions = RESULTS.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length))

describe.each(pages.PAGES)('%s', (page) => {
  const text = readText(page)

  it('has the numbers of the results: npm run bench -- --redraw writes them', () => {
    expect(text).toMatch(pages.BLOCK)
    const fail = (_name: string, error: unknown) => {
      throw error
    }
    expect(text).toBe(pages.withResults(text, stored, fail))
  })

  it('names the commit of each result', () => {
    const results = [...text.matchAll(pages.BLOCK)]
    expect(results).not.toEqual([])
    // The sentences about the peers are those of the other results of the page.
    for (const [block, , name] of results) if (name !== 'comparison') expect(block).toMatch(/, commit [0-9a-f]{7,}/)
  })
})

describe('numbers outside of the blocks', () => {
  /** Times and sizes, ratios, ranges, and rates. */
  const MEASURED =
    /\d[\d.,]*\s(?:to\s[\d.,]+\s)?(?:µs|ms|s|KiB|MiB|kB|MB|%|times|packages|(?:entries|records|calls|batches)\sper\ssecond)(?!\w)|\(\d[\d.,]* to \d[\d.,]*\)|\d+\.\d+/g
  const foundIn = (text: string, pattern = MEASURED): string[] => text.replaceAll(pages.BLOCK, '').match(pattern) ?? []

  it('are recognized', () => {
    const text =
      'sends 1.34 (1.22 to 1.43) times as many, starts 4 to 10 ms faster, 20 µs, 3 MiB, 45,000 entries per second'
    expect(foundIn(text).length).toBeGreaterThanOrEqual(6)
    expect(foundIn(`<!-- results: rates -->\n${text}\n<!-- /results -->`)).toEqual([])
  })

  it('are only settings in the sections about benchmarks', () => {
    expect(foundIn(sectionOf('README.md', 'Benchmarks'))).toEqual([])
    const [, comparison = '', setup = ''] = readText('docs/performance.md').split(
      /\n## (?:Against other transports|Setup)\n/,
    )
    expect(foundIn(comparison)).toEqual([])
    // Shares and sizes of records.
    expect(foundIn(setup)).toEqual(['8.6 kB', '9 %', '1 %'])
    // The version of nats-server.
    expect(foundIn(sectionOf('docs/fleet-operations.md', 'Measured'))).toEqual(['2.10'])
  })

  it.each(PAGES)('are no costs or ranges of measurements in %s', (page) => {
    expect(foundIn(prose(page), /\d\s?µs(?!\w)|\d \(\d[\d.,]* to \d[\d.,]*\)/g)).toEqual([])
  })
})

describe('the results', () => {
  it('are those of the pages, each with a commit, a date, the Node version and the options', () => {
    expect(questions.toSorted()).toEqual(pages.ON_PAGES.toSorted())
    for (const name of questions) {
      const { question, commit, date, versions, options } = stored(name)
      expect(question).toBe(name)
      expect(commit).toMatch(/^[0-9a-f]{7,}/)
      expect(date).toMatch(/^\d{4}-\d\d-\d\d$/)
      expect(versions.node).toMatch(/^\d+\./)
      expect(Object.keys(options)).not.toEqual([])
    }
  })

  it.each(RESULTS.filter((file) => file.endsWith('.svg')))('%s says where its numbers come from', (file) => {
    const name = questions.find((question) => file.startsWith(question)) as string
    expect(readText(`benchmarks/results/${file}`)).toContain(`>${footerOf(stored(name))}<`)
  })

  it('bear out what the README and the page on migration say of peers', () => {
    const { starts, installed } = stored('start').result
    const of = (rows: { name: string }[], name: string) => rows.find((row) => row.name === name) as Kept['result']
    const readyMs = (name: string): number => of(starts, name).spreads.readyMs.median
    expect(readyMs('pino-loki')).toBeLessThan(readyMs('pino-ingest'))
    expect(of(installed, 'pino-loki').bytes).toBeLessThan(of(installed, 'pino-ingest').bytes)
    const cpuMs = (name: string): number => of(stored('rates').result['1'], name).spreads.cpuMs.median
    expect(cpuMs('pino-elasticsearch')).toBeLessThan(cpuMs('pino-ingest'))
  })

  it.each(Object.keys(pages.PICTURES))('%s is drawn from them, and the same in docs', async (file) => {
    const kept = stored('throughput')
    const svg = await svgOf(throughput.charts(kept.result)[file], footerOf(kept))
    expect(readText(`benchmarks/results/${file}`)).toBe(svg)
    expect(readText(`docs/images/${file}`)).toBe(svg)
  })
})

describe('a block', () => {
  const changed =
    (name: string, change: (result: Kept['result']) => void): Stored =>
    (asked) => {
      const kept = stored(asked)
      if (asked === name) change(kept.result)
      return kept
    }
  const linesOf = (block: string, from: Stored): string[] => pages.BLOCKS[block]?.(from) ?? []

  it('changes with the result', () => {
    const faster = changed('throughput', ({ warm }) => {
      for (const run of warm.mix.find((row: { isOurs: boolean }) => row.isOurs).runs) run.entriesPerSecond *= 2
    })
    expect(linesOf('summary', faster)).not.toEqual(linesOf('summary', stored))
  })

  it('compares low rates only with peers that deliver within 2 s', () => {
    const late = changed('rates', (result) => {
      for (const row of result['1']) if (row.name === 'pino-elasticsearch') row.spreads.delayP99Ms = { median: 9000 }
    })
    const lineOf = (from: Stored) => linesOf('costs', from).find((line) => line.startsWith('| 1 |'))
    expect(lineOf(late)).not.toContain('pino-elasticsearch')
  })

  it('names the peers that are better', () => {
    const slower = changed('rates', (result) => {
      for (const row of result['100']) for (const run of row.runs) run.cpuMs = row.isOurs ? 9 : 5
    })
    const late = changed('start', ({ starts }) => {
      for (const { name, spreads } of starts) spreads.readyMs.median = name === 'pino-datadog-transport' ? 1 : 100
    })
    const large = changed('throughput', ({ cold }) => {
      for (const row of cold.small) for (const run of row.runs) run.peakMib = row.isOurs ? 200 : 100
    })
    expect(linesOf('comparison', slower).join(' ')).toMatch(/At [^.]*\b100\b[^.]* per second, /)
    expect(linesOf('comparison', late).at(-1)).toBe('pino-datadog-transport starts faster.')
    expect(linesOf('comparison', large)[0]).toContain('lines, first records')
  })

  it('stays as it is if its result has no rounds or its name is unknown, and the others are written', () => {
    const text = readText('docs/performance.md')
    const failed: string[] = []
    const withoutRounds = changed('rates', (result) => (result['1'] = []))
    const unknown = `${text.replaceAll('results: start', 'results: speed')}`
    const written = pages.withResults(unknown, withoutRounds, (name) => failed.push(name))
    expect(failed.toSorted()).toEqual(['comparison', 'costs', 'speed'])
    expect(written).toBe(unknown)
  })
})
