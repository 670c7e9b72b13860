/**
 * The README is true: its programs run and do what it says, its commands exist, its tables are those of the code.
 * `UPDATE_README=1 npm test` rewrites what is generated.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IngestErrorCode } from '../src/errors.js'
import { optionsMarkdown, TABLE, variablesOf } from '../src/options/table.js'
import type { OptionName } from '../src/options/table.js'
import type { LogEntry } from '../src/protocol/entry.js'
import { createIngestService } from '../src/service/index.js'
import type { IngestService } from '../src/service/index.js'
import { codeBlocks, prose, readText, regionOf, root, sectionOf, writeRegion } from './markdown.js'
import { ProgramFolder } from './readme-programs.js'
import type { ProgramResult } from './readme-programs.js'

const README = 'README.md'
const KEY = 'readme-key-51c3e9'

describe('programs', () => {
  const folder = new ProgramFolder()
  let service: IngestService

  beforeEach(async () => {
    service = await createIngestService({ apiKeys: [KEY] })
  })
  afterEach(() => service.close())
  afterAll(() => folder.remove())

  const arrived = (): LogEntry[] => service.entries().items.map(({ entry }) => entry).toReversed()
  const messages = (): string[] => arrived().map(({ message }) => message)

  /** By section, in order: what each program must have done. */
  const expected: Record<string, ((result: ProgramResult) => void)[]> = {
    'Five lines': [() => {
      expect(arrived()).toMatchObject([
        { level: 'info', message: 'order placed', service: 'checkout', user: { id: 'u-42' }, metadata: { orderId: 1017 } },
        { level: 'error', message: 'payment failed', service: 'checkout', error: { type: 'Error', message: 'card declined' } },
      ])
    }],
    'Three ways to run it': [
      ({ stdout }) => {
        expect(messages()).toEqual(['to the service', 'to the service and to stdout'])
        expect(JSON.parse(stdout)).toMatchObject({ level: 30, msg: 'to the service and to stdout' })
      },
      () => expect(messages()).toEqual(['no worker needed']),
      () => expect(messages()).toEqual(['from CommonJS']),
    ],
    'What your record becomes': [({ file }) => expect(arrived()).toEqual([promisedEntry(file)])],
    'When things fail': [
      () => expect(messages()).toEqual(['kept until the service has it']),
      ({ stderr }) => {
        expect(messages()).toEqual(['paid'])
        expect(stderr).toBe('acknowledged 0\n')
      },
      () => expect(messages()).toEqual(['watched']),
    ],
    'The client': [() => {
      const [release] = service.releases().items
      expect(release?.release).toEqual({ version: '1.4.0', branch: 'main' })
      expect(arrived()).toMatchObject([{ level: 'info', message: 'deployed', release_id: release?.release_id }])
      expect(service.heartbeats().items).toHaveLength(1)
    }],
    // It starts a service of its own, and checks what came there.
    'The local service in tests': [() => expect(service.requests).toEqual([])],
  }

  const blocks = codeBlocks(README).filter(({ language }) => /^(?:js|cjs|mjs|ts|typescript|javascript)$/.test(language))
  const nth = new Map<string, number>()
  const numbered = blocks.map((block) => {
    const at = nth.get(block.section) ?? 0
    nth.set(block.section, at + 1)
    return { ...block, at }
  })

  test('each has its expectation', () => {
    expect(Object.fromEntries(nth)).toEqual(Object.fromEntries(Object.entries(expected).map(([section, list]) => [section, list.length])))
  })

  test.each(numbered)('$section, line $line', async ({ section, at, code, language }) => {
    const extension = language === 'cjs' ? 'cjs' : 'mjs'
    const result = await folder.run(code, extension, { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY })
    // The watched transport may tell of its account, and of nothing else.
    expect(result.stderr).toMatch(section === 'When things fail' ? /^(?:(?:pending|acknowledged) \d+\n)*$/ : /^$/)
    expect(result.code).toBe(0)
    expected[section]?.[at]?.(result)
  })
})

/** The README's own entry, in which what differs from run to run is a pattern. */
function promisedEntry(file: string): LogEntry {
  const [, json = ''] = /<!-- entry -->\n```json\n([\s\S]*?)```/.exec(readText(README)) ?? []
  const entry = JSON.parse(json) as LogEntry & { error: { stack: string }, source: string, metadata: object }
  const matching = (pattern: string): string => expect.stringMatching(new RegExp(`^${pattern}$`)) as string
  const place = /:\d+:\d+$/.exec(entry.source)?.[0] ?? 'a line and a column'
  return {
    ...entry,
    timestamp: matching(String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`),
    error: { ...entry.error, stack: matching(entry.error.stack.split('    at …').map(escaped).join(String.raw`(?:    at .+\n?)+(?<!\n)`)) },
    source: file + place,
    metadata: { ...entry.metadata, pid: expect.any(Number) as number, hostname: expect.any(String) as string },
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}

interface Help {
  readonly commands: readonly { readonly name: string }[]
  readonly flags: readonly { readonly name: string }[]
}

const helps = new Map<string, Help>()

function helpOf(command: string): Help {
  const known = helps.get(command)
  if (known !== undefined) return known
  const args = [`${root}dist/esm/cli/main.js`, ...(command === '' ? [] : [command]), '--help', '--json']
  const help = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Help
  helps.set(command, help)
  return help
}

/** `undefined` where the command can be given, else what is wrong with it. */
function problemOf(command: string): string | undefined {
  const [program = '', ...words] = command.trim().split(/\s+/)
  const { name, peerDependencies, scripts } = JSON.parse(readText('package.json')) as {
    name: string, peerDependencies: Record<string, string>, scripts: Record<string, string>
  }
  if (program === 'npx' && words[0] === name) return cliProblem(words.slice(1))
  if (program === name) return cliProblem(words)
  if (program === 'export') return variableProblem(words[0] ?? '')
  if (program === 'node') return undefined // an application of the reader's
  if (program !== 'npm') return 'is a program that this test does not know'
  const [verb = '', ...rest] = words
  if (verb === 'install') {
    const strange = rest.find((one) => one !== name && !(one in peerDependencies))
    return strange && `installs ${strange}, which is neither the package nor its peer`
  }
  if (verb === 'ci') return existsSync(`${root}package-lock.json`) ? undefined : 'needs a package-lock.json'
  const script = verb === 'run' ? rest[0] ?? '' : verb
  return script in scripts ? undefined : `there is no script ${script}`
}

function cliProblem(words: readonly string[]): string | undefined {
  const command = words[0] !== undefined && !words[0].startsWith('-') ? words[0] : ''
  if (command !== '' && !helpOf('').commands.some(({ name }) => name === command)) return `there is no command ${command}`
  const flags = helpOf(command).flags.map(({ name }) => `--${name}`)
  return words.filter((word) => word.startsWith('--')).find((word) => !flags.includes(word))
}

function variableProblem(assignment: string): string | undefined {
  const variables = (Object.keys(TABLE) as OptionName[]).flatMap((option) => variablesOf(option))
  return variables.includes(assignment.replace(/=.*/, '')) ? undefined : 'is no variable of an option'
}

describe('commands', () => {
  const inBlocks = codeBlocks(README).filter(({ language }) => language === 'sh').flatMap(({ code }) => code.split('\n'))
  const inProse = [...prose(README).matchAll(/`(?:[A-Z_]+=\S+ )?((?:npm|npx|pino-ingest)\b[^`]*)`/g)].map((match) => match[1] as string)
  const commands = [...inBlocks, ...inProse].map((line) => line.replace(/#.*$/, '')).flatMap((line) => line.split(/&&|\|/))
    .map((command) => command.trim()).filter((command) => command !== '' && !command.startsWith('pino-ingest/'))

  test.each([...new Set(commands)])('%s', (command) => {
    expect(problemOf(command)).toBeUndefined()
  })

  test('a wrong one is found', () => {
    expect(problemOf('npx pino-ingest serve')).toBe('there is no command serve')
    expect(problemOf('npx pino-ingest dev --prot 1')).toBe('--prot')
    expect(problemOf('npm run nothing')).toBe('there is no script nothing')
    expect(problemOf('export PINO_INGEST_KEY=x')).toBe('is no variable of an option')
    expect(problemOf('npm install pinot')).toContain('pinot')
    expect(problemOf('make all')).toContain('does not know')
  })

  test('the table has every command, with flags that it has', () => {
    const rows = [...sectionOf(README, 'Command line').matchAll(/^\| `pino-ingest ?(\w*)` \| (.*) \|$/gm)]
    expect(rows.map(([, command]) => command)).toEqual(['', ...helpOf('').commands.map(({ name }) => name)])
    for (const [, command = '', words = ''] of rows) {
      const flags = [...words.matchAll(/--[a-z-]+/g)].map(([flag]) => flag)
      expect(cliProblem([...(command === '' ? [] : [command]), ...flags])).toBeUndefined()
      for (const common of ['help', 'json']) expect(helpOf(command).flags.map(({ name }) => name)).toContain(common)
    }
  })
})

describe('tables', () => {
  test('options are those of the code', () => {
    if (process.env['UPDATE_README'] === '1') writeRegion(README, 'options', optionsMarkdown())
    expect(regionOf(README, 'options')).toBe(optionsMarkdown())
  })

  test('every error code is there, with cause and remedy', () => {
    // By the compiler: neither a code too few nor one too many.
    const codes: Record<IngestErrorCode, true> = {
      CONFIG: true, INVALID: true, AUTH: true, REJECTED: true, RATE_LIMITED: true, UNAVAILABLE: true, MISDIRECTED: true, SPOOL: true, ABORTED: true,
    }
    const rows = [...regionOf(README, 'errors').matchAll(/^\| `(\w+)` \| (.+) \| (.+) \|$/gm)]
    expect(rows.map(([, code]) => code)).toEqual(Object.keys(codes))
  })

  test('events are those that the transport tells', () => {
    const told = new Set(readText('src/report.ts').match(/ingest:\w+/g))
    const rows = [...sectionOf(README, 'When things fail').matchAll(/^\| `(ingest:\w+)` \|/gm)].map(([, name]) => name)
    expect(rows.toSorted()).toEqual([...told].toSorted())
  })
})
