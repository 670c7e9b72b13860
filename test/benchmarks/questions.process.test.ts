/** Every question can be loaded, and the command line lists them. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { BENCHMARKS, tool } from './tools.js'
import type { Chart, Question } from './tools.js'

const { foldersOf, loadQuestions } = await tool('questions')
const { svgOf } = await tool('chart')
const { hasDefaults, optionsFor, parseCommand } = await tool('command-line')

const { questions } = await loadQuestions(BENCHMARKS)
const byName = new Map(questions.map((question) => [question.name, question]))

// By Node: vitest imports a name that a module does not export as undefined.
it('loads every question', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    fileURLToPath(new URL('main.mjs', BENCHMARKS)),
    '--list',
  ])
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' })
  expect(stdout.toString()).toContain(questions[0]?.name)
})

describe.each(foldersOf(BENCHMARKS))('%s', (folder) => {
  const question = byName.get(folder) as Question

  it('is named after its folder', () => expect(question).toBeDefined())

  it('asks one sentence', () => expect(question.asks).toMatch(/^[A-Z].*\?$/))

  it('has numeric options, and its quick run sets no others', () => {
    for (const value of Object.values(question.options)) expect(value).toBeTypeOf('number')
    for (const value of Object.values(question.quick ?? {})) expect(value).toBeTypeOf('number')
    expect(Object.keys(question.options)).toEqual(expect.arrayContaining(Object.keys(question.quick ?? {})))
  })

  it('has functions that measure and print', () => {
    expect(question.measure).toBeTypeOf('function')
    expect(question.lines).toBeTypeOf('function')
  })

  it('is listed in the README', () => {
    const rows = readFileSync(new URL('README.md', BENCHMARKS), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`| \`${folder}\``))
    expect(rows).toEqual([`| \`${folder}\` | ${question.asks} |`])
  })
})

it.each(['throughput-ratios.svg', 'throughput-cpu-ratios.svg'])(
  'docs/images/%s has the stored numbers',
  async (file) => {
    const stored = JSON.parse(readFileSync(new URL('results/throughput.json', BENCHMARKS), 'utf8')) as {
      result: object
    }
    const chart = byName.get('throughput')?.charts?.(stored.result)[file] as Chart
    const textsOf = (svg: string): string[] => svg.match(/>[^<]+<\/text>/g) ?? []
    const drawn = textsOf(await svgOf(chart, ''))
    expect(drawn.length).toBeGreaterThan(20)
    expect(textsOf(readFileSync(new URL(`../docs/images/${file}`, BENCHMARKS), 'utf8'))).toEqual(
      expect.arrayContaining(drawn),
    )
  },
)

describe('the command line', () => {
  const ask = (name: string, options: Record<string, number>, quick?: Record<string, number>): Question => ({
    name,
    asks: '?',
    options,
    ...(quick && { quick }),
    measure: async () => undefined,
    lines: () => [],
  })
  const all = [ask('speed', { rounds: 5, records: 1000 }, { rounds: 1 }), ask('delay', { seconds: 2.5, onlyOurs: 0 })]
  const refused = (...args: string[]) => expect(() => parseCommand(args, all))

  it('runs all questions by default, and named ones in the defined order', () => {
    expect(parseCommand([], all)).toMatchObject({ questions: all, isAll: true })
    expect(parseCommand(['delay', 'speed'], all).questions).toEqual(all)
    expect(parseCommand(['delay'], all)).toMatchObject({ questions: [all[1]], isAll: false })
  })

  it('applies defaults, then the quick values, then the given options', () => {
    const [speed, delay] = all as [Question, Question]
    const options = (...args: string[]) => optionsFor(speed, parseCommand(args, all))
    expect(options()).toEqual({ rounds: 5, records: 1000 })
    expect(options('--quick')).toEqual({ rounds: 1, records: 1000 })
    expect(options('--quick', '--rounds', '3')).toEqual({ rounds: 3, records: 1000 })
    expect(optionsFor(ask('other', { rounds: 5, records: 10 }), parseCommand(['--quick'], all))).toEqual({
      rounds: 1,
      records: 10,
    })
    expect(optionsFor(delay, parseCommand(['--rounds', '3'], all))).toEqual({ seconds: 2.5, onlyOurs: 0 })
  })

  it('stores no result of a quick or partial run', () => {
    const [speed] = all as [Question, Question]
    const isDefault = (...args: string[]) => hasDefaults(speed, optionsFor(speed, parseCommand(args, all)))
    expect(isDefault()).toBe(true)
    expect(isDefault('--rounds', '5', '--seconds', '1')).toBe(true)
    expect(isDefault('--rounds', '4')).toBe(false)
    expect(isDefault('--quick')).toBe(false)
  })

  it('accepts fractions and zero only if the default is one', () => {
    expect(parseCommand(['--seconds', '0.5', '--onlyOurs', '0'], all).given).toEqual({ seconds: 0.5, onlyOurs: 0 })
    refused('--rounds', '0').toThrow('--rounds must be a whole number above 0, got 0')
    refused('--rounds', '1.5').toThrow('--rounds must be a whole number above 0, got 1.5')
    refused('--rounds', 'x').toThrow(RangeError)
    refused('--rounds', '').toThrow(RangeError)
    refused('--seconds=-1').toThrow('--seconds must be a number above 0, got -1')
  })

  it('lists the names that exist when a name does not', () => {
    refused('sped').toThrow('there is no question sped; use one of: speed, delay')
    refused('--round', '3').toThrow('--rounds N')
    refused('delay', '--rounds', '3').toThrow('delay: no option --rounds; delay has --seconds, --onlyOurs')
  })

  it('reports why a question cannot be loaded', () => {
    expect(() => parseCommand(['torn'], all, new Map([['torn', new Error('no dist')]]))).toThrow(
      'the question torn cannot be loaded: Error: no dist',
    )
  })
})
