/**
 * The documentation is true: its commands exist, its tables are those of the code. (`programs.process.test.ts` runs its programs.)
 * `npm run docs` rewrites what is generated.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { OPTION_TABLE, listAllVariables } from '../../src/options/option-table.js'
import type { OptionName } from '../../src/options/option-table.js'
import { optionsMarkdown, usualOptionsMarkdown } from '../options/render-tables.js'
import { DOCUMENTS, codeBlocks, prose, readText, regionOf, root, sectionOf, writeRegion } from '../markdown.js'

interface Help {
  readonly commands: Readonly<Record<string, object>>
  readonly flags: Readonly<Record<string, object>>
  readonly notes?: readonly string[]
  readonly examples: readonly (readonly [line: string, meaning: string])[]
}

const VARIABLE = /\bPINO_INGEST_[A-Z_]+\b/g

const helps = new Map<string, Help>()

/** @param command with its subcommands, separated by spaces */
function helpOf(command: string): Help {
  const known = helps.get(command)
  if (known !== undefined) return known
  const args = [`${root}dist/cjs/cli.js`, ...command.split(' ').filter((word) => word !== ''), '--help', '--json']
  const help = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Help
  helps.set(command, help)
  return help
}

/** `undefined` where the command can be given, else what is wrong with it. */
function problemOf(command: string): string | undefined {
  const withoutVariables = command.trim().replace(/^(?:[A-Z_]+=\S+\s+)+(?=npx )/, '')
  const [program = '', ...words] = withoutVariables.split(/\s+/)
  const { name, devDependencies, peerDependencies, scripts } = JSON.parse(readText('package.json')) as {
    name: string
    devDependencies: Record<string, string>
    peerDependencies: Record<string, string>
    scripts: Record<string, string>
  }
  if (program === 'npx' && words[0] === name) return cliProblem(words.slice(1))
  if (program === name) return cliProblem(words)
  if (program === 'export') return variableProblem(words[0] ?? '')
  if (['node', 'zstd', 'curl', 'cat', 'nats-server'].includes(program) || /^[A-Z]+=/.test(program)) return undefined // the reader's own
  if (program !== 'npm') return 'is a program that this test does not know'
  const [verb = '', ...rest] = words
  if (verb === 'install') {
    const known = [name, ...Object.keys(peerDependencies), ...Object.keys(devDependencies)]
    const strange = rest.find((one) => !known.includes(one.replace(/@[\d.]+$/, '')))
    return strange && `installs ${strange}, which is neither the package, nor a peer, nor tested with it`
  }
  if (verb === 'ci') return existsSync(`${root}package-lock.json`) ? undefined : 'needs a package-lock.json'
  const script = verb === 'run' ? (rest[0] ?? '') : verb
  return script in scripts ? undefined : `there is no script ${script}`
}

/** Commands whose subcommands have flags of their own; the more specific first. */
const SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  forward: ['init', 'dead ls', 'dead show', 'dead replay', 'dead'],
  spool: ['ls', 'show', 'replay', 'purge'],
}

function cliProblem(words: readonly string[]): string | undefined {
  const command = words[0] !== undefined && !words[0].startsWith('-') ? words[0] : ''
  if (command !== '' && !(command in helpOf('').commands)) return `there is no command ${command}`
  const subcommands = SUBCOMMANDS[command]?.find((one) => words.slice(1).join(' ').startsWith(one)) ?? ''
  const flags = Object.keys(helpOf(`${command} ${subcommands}`).flags).map((name) => `--${name}`)
  // The arguments after `--` belong to another program.
  const own = words.includes('--') ? words.slice(0, words.indexOf('--')) : words
  return own.filter((word) => word.startsWith('--')).find((word) => !flags.includes(word))
}

/** Those of options, and those that a command's help names. */
function knownVariables(): Set<string> {
  const ofOptions = (Object.keys(OPTION_TABLE) as OptionName[]).flatMap((option) => listAllVariables(option))
  const ofCommands = Object.keys(helpOf('').commands).flatMap(
    (name) => helpOf(name).notes?.join(' ').match(VARIABLE) ?? [],
  )
  return new Set([...ofOptions, ...ofCommands])
}

function variableProblem(assignment: string): string | undefined {
  return knownVariables().has(assignment.replace(/=.*/, '')) ? undefined : 'is no variable of an option or a command'
}

describe('commands', () => {
  const inBlocks = DOCUMENTS.flatMap((document) => codeBlocks(document))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.split('\n'))
  const inProse = DOCUMENTS.flatMap((document) => [
    ...prose(document).matchAll(/`(?:[A-Z_]+=\S+ )?((?:npm|npx|pino-ingest)\b[^`]*)`/g),
  ]).map((match) => match[1] as string)
  const commands = [...inBlocks, ...inProse]
    .map((line) => line.replace(/#.*$/, ''))
    .flatMap((line) => [line, ...[...line.matchAll(/\$\(([^)]*)\)/g)].map((match) => match[1] as string)])
    .flatMap((line) => line.split(/&&|\|/))
    .map((command) => command.trim())
    .filter((command) => command !== '' && !command.startsWith('pino-ingest/'))

  test.each([...new Set(commands)])('%s', (command) => {
    expect(problemOf(command)).toBeUndefined()
  })

  test('the examples of each help can be given', () => {
    const groups = Object.entries(SUBCOMMANDS).flatMap(([name, words]) => words.map((word) => `${name} ${word}`))
    const examples = ['', ...Object.keys(helpOf('').commands), ...groups].flatMap((command) =>
      helpOf(command).examples.flatMap(([line]) => line.split('|').map((part) => part.trim())),
    )
    expect(examples.map((line) => [line, problemOf(line)]).filter(([, problem]) => problem !== undefined)).toEqual([])
  })

  test('each variable that is named is one', () => {
    const known = knownVariables()
    const streams = ['PINO_INGEST_DEAD', 'PINO_INGEST_STATE', 'PINO_INGEST_NATS_TLS_']
    const named = DOCUMENTS.flatMap((document) => readText(document).match(VARIABLE) ?? [])
    expect([...new Set(named)].filter((variable) => !known.has(variable) && !streams.includes(variable))).toEqual([])
  })

  test('the table has every command, with flags that it has', () => {
    const rows = [...sectionOf('docs/cli.md', 'Command line').matchAll(/^\| `pino-ingest ?(\w*)` \| (.*) \|$/gm)]
    expect(rows.map(([, command]) => command)).toEqual(['', ...Object.keys(helpOf('').commands)])
    for (const [, command = '', words = ''] of rows) {
      const flags = [...words.matchAll(/--[a-z-]+/g)].map(([flag]) => flag)
      expect(cliProblem([...(command === '' ? [] : [command]), ...flags])).toBeUndefined()
      for (const common of ['help', 'json']) expect(Object.keys(helpOf(command).flags)).toContain(common)
    }
  })
})

describe('tables', () => {
  test.each([
    ['README.md', usualOptionsMarkdown()],
    ['docs/options.md', optionsMarkdown()],
  ])('options in %s are those of the code', (page, table) => {
    if (process.env['UPDATE_DOCS'] === '1') writeRegion(page, 'options', table)
    expect(regionOf(page, 'options')).toBe(table)
  })

  test('events are those that the transport emits', () => {
    const emitted = new Set(readText('src/diagnostics/reporter.ts').match(/ingest:\w+/g))
    const rows = [...sectionOf('docs/metrics.md', 'Events').matchAll(/^\| `(ingest:\w+)` \|/gm)].map(([, name]) => name)
    expect(rows.toSorted()).toEqual([...emitted].toSorted())
  })
})
