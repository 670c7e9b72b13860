/** Numbers of benchmarks in README.md and docs are those of the stored results, with their commit. */
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PAGES, prose, readText, sectionOf } from '../markdown.js'
import { BENCHMARKS } from './tools.js'

interface Kept {
  question: string
  commit: string | null
  date: string
  options: Record<string, number>
  // oxlint-disable-next-line typescript/no-explicit-any -- each question has its own
  result: any
}
type Stored = (name: string) => Kept
const pages = (await import(new URL('tools/pages.mjs', BENCHMARKS).href)) as {
  BLOCK: RegExp
  BLOCKS: Record<string, (stored: Stored) => string[]>
  PAGES: string[]
  PICTURES: Record<string, string>
  withResults: (page: string, stored: Stored) => string
}
const { footerOf } = (await import(new URL('tools/results.mjs', BENCHMARKS).href)) as {
  footerOf: (kept: Kept) => string
}

const RESULTS = readdirSync(new URL('results/', BENCHMARKS))
const stored: Stored = (name) => JSON.parse(readText(`benchmarks/results/${name}.json`)) as Kept
const questions = RESULTS.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length))

describe.each(pages.PAGES)('%s', (page) => {
  const text = readText(page)

  it('has the numbers of the results: npm run bench -- --redraw writes them', () => {
    expect(text).toMatch(pages.BLOCK)
    expect(text).toBe(pages.withResults(text, stored))
  })

  it('names the commit of each result', () => {
    const results = [...text.matchAll(pages.BLOCK)]
    expect(results).not.toEqual([])
    for (const [block] of results) expect(block).toMatch(/, commit [0-9a-f]{7,}/)
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
    expect(foundIn(comparison)).toEqual(['1,000 records per second'])
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
  it.each(questions)('%s has a commit, a date and options', (name) => {
    const { question, commit, date, options } = stored(name)
    expect(question).toBe(name)
    expect(commit).toMatch(/^[0-9a-f]{7,}/)
    expect(date).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect(Object.keys(options)).not.toEqual([])
  })

  it.each(RESULTS.filter((file) => file.endsWith('.svg')))('%s says where its numbers come from', (file) => {
    const name = questions
      .filter((question) => file.startsWith(question))
      .toSorted((a, b) => b.length - a.length)[0] as string
    expect(readText(`benchmarks/results/${file}`)).toContain(`>${footerOf(stored(name))}<`)
  })

  it.each(Object.keys(pages.PICTURES))('%s is the same in docs', (file) => {
    expect(readText(`docs/images/${file}`)).toBe(readText(`benchmarks/results/${file}`))
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

  it('changes with the result', () => {
    const text = readText('README.md')
    const faster = changed('throughput', ({ warm }) => {
      for (const run of warm.mix.find((row: { name: string }) => row.name === 'spool on').runs)
        run.entriesPerSecond *= 2
    })
    expect(pages.withResults(text, faster)).not.toBe(text)
  })

  it('compares low rates only with peers that deliver within 2 s', () => {
    const late = changed('rates', (result) => {
      for (const row of result['1']) if (row.name === 'pino-elasticsearch') row.spreads.delayP99Ms = { median: 9000 }
    })
    const lineOf = (from: Stored): string | undefined =>
      pages.BLOCKS['costs']?.(from).find((line) => line.startsWith('| 1 |'))
    expect(lineOf(stored)).toContain('(pino-elasticsearch)')
    expect(lineOf(late)).not.toContain('(pino-elasticsearch)')
  })

  it('needs the rounds of a result, and a known name', () => {
    const withoutRounds = changed('throughput', ({ cold }) =>
      cold.small.forEach((row: { runs: unknown[] }) => (row.runs = [])),
    )
    expect(() =>
      pages.withResults(
        readText('README.md'),
        changed('throughput', ({ warm }) => (warm.mix = [])),
      ),
    ).toThrow(RangeError)
    expect(() => pages.withResults(readText('docs/performance.md'), withoutRounds)).toThrow(RangeError)
    expect(() => pages.withResults('<!-- results: speed -->\n<!-- /results -->', stored)).toThrow(
      'there is no block speed',
    )
  })
})
