/** Every question can be loaded, and the command line lists them. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { BENCHMARKS, load } from './tools.js'
import type { Question } from './tools.js'

const { foldersOf, loadQuestions } = await load('tools/questions')
const { hasDefaults, optionsFor, parseCommand } = await load('tools/command-line')

const { questions }: { questions: Question[] } = await loadQuestions(BENCHMARKS)
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

it.each(['cost/without-kernel.cjs', 'growth/watched-transport.cjs', '../build/modules/index.js'])(
  '%s is a transport, as pino loads it',
  (file) => {
    const path = fileURLToPath(new URL(file, BENCHMARKS))
    const program = `const loaded = require(${JSON.stringify(path)}); console.log(typeof (loaded.default ?? loaded))`
    expect(spawnSync(process.execPath, ['-e', program]).stdout.toString()).toBe('function\n')
  },
)

it.each(foldersOf(BENCHMARKS) as string[])('%s is a question, and the README lists it', (folder) => {
  const { asks, options, quick = {}, measure, lines } = byName.get(folder) as Question
  const rows = readFileSync(new URL('README.md', BENCHMARKS), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`| \`${folder}\``))
  expect(rows).toHaveLength(1)
  expect(rows[0]).toContain(` ${asks} |`)
  expect(asks).toMatch(/^[A-Z].*\?$/)
  for (const value of Object.values({ ...options, ...quick })) expect(value).toBeTypeOf('number')
  expect(Object.keys(options)).toEqual(expect.arrayContaining(Object.keys(quick)))
  for (const of of [measure, lines]) expect(of).toBeTypeOf('function')
})

describe('the command line', () => {
  const ask = (name: string, options: Record<string, number>, quick?: Record<string, number>): Question => ({
    name,
    asks: '?',
    options,
    ...(quick && { quick }),
    measure: async () => undefined,
    lines: () => [],
  })
  const speed = ask('speed', { rounds: 5, records: 1000 })
  const delay = ask('delay', { seconds: 2.5, onlyOurs: 0 }, { seconds: 1 })
  const all = [speed, delay]
  const refused = (...args: string[]) => expect(() => parseCommand(args, all))

  it('runs all questions by default, and named ones in the defined order', () => {
    expect(parseCommand([], all)).toMatchObject({ questions: all, isAll: true })
    expect(parseCommand(['delay', 'speed'], all).questions).toEqual(all)
    expect(parseCommand(['delay'], all)).toMatchObject({ questions: [delay], isAll: false })
  })

  it('applies defaults, then the quick values, then the given options; only defaults may be stored', () => {
    const options = (...args: string[]) => optionsFor(speed, parseCommand(args, all))
    expect(options('--rounds', '5', '--seconds', '1')).toEqual({ rounds: 5, records: 1000 })
    expect(options('--quick')).toEqual({ rounds: 1, records: 1000 })
    expect(options('--quick', '--rounds', '3')).toEqual({ rounds: 3, records: 1000 })
    expect(optionsFor(delay, parseCommand(['--quick'], all))).toEqual({ seconds: 1, onlyOurs: 0 })
    expect([options(), options('--rounds', '4'), options('--quick')].map((one) => hasDefaults(speed, one))).toEqual([
      true,
      false,
      false,
    ])
  })

  it('accepts fractions and zero only if the default is one', () => {
    expect(parseCommand(['--seconds', '0.5', '--onlyOurs', '0'], all).given).toEqual({ seconds: 0.5, onlyOurs: 0 })
    for (const value of ['0', '1.5', 'x', '']) refused('--rounds', value).toThrow(RangeError)
    refused('--seconds=-1').toThrow('--seconds')
  })

  it('names what exists when a name does not, and why a question cannot be loaded', () => {
    refused('sped').toThrow('speed, delay')
    refused('--round', '3').toThrow('--rounds N')
    refused('delay', '--rounds', '3').toThrow('--seconds, --onlyOurs')
    expect(() => parseCommand(['torn'], all, new Map([['torn', new Error('no dist')]]))).toThrow('no dist')
  })
})
