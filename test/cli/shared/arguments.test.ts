/** Flags, help and usage errors. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseArguments } from '../../../src/cli/shared/arguments.js'
import { runInProcess } from '../run-in-process.js'

const FLAGS = { flags: { port: { value: 'NUMBER', meaning: '' }, quiet: { short: 'q', meaning: '' } } }

describe('arguments', () => {
  test('switches and texts', () => {
    const given = parseArguments(['-q', '--port', '1', '--port=2'], FLAGS)
    expect(given).toEqual({ switches: new Set(['quiet']), texts: new Map([['port', '2']]), positionals: [] })
    expect(parseArguments(['--port=-1'], FLAGS).texts.get('port')).toBe('-1')
    expect(parseArguments(['--port', '-'], FLAGS).texts.get('port')).toBe('-')
    expect(parseArguments(['--port', '- one'], FLAGS).texts.get('port')).toBe('- one')
  })

  test('positionals may be before, between and after flags; arguments after -- are positionals or a program', () => {
    const args = ['a', '-q', 'b', '--port', '1', 'c', '--', '--quiet', '-']
    expect(parseArguments(args, { ...FLAGS, maxPositionals: Infinity })).toMatchObject({
      positionals: ['a', 'b', 'c', '--quiet', '-'],
      texts: new Map([['port', '1']]),
    })
    expect(parseArguments(args, { ...FLAGS, maxPositionals: 3, takesProgram: true })).toMatchObject({
      positionals: ['a', 'b', 'c'],
      program: ['--quiet', '-'],
    })
  })

  test.each([
    [['--prt', '1'], 'unknown flag --prt, did you mean --port?'],
    [['-x'], 'unknown flag -x'],
    [['--toString'], 'unknown flag --toString'],
    [['--port'], '--port needs a value: --port NUMBER'],
    [['--port', '--quiet'], '--port needs a value: --port NUMBER'],
    [['--port', ''], '--port is empty: --port NUMBER'],
    [['--port', ' '], '--port is empty: --port NUMBER'],
    [['--port='], '--port is empty: --port NUMBER'],
    [['--quiet=1'], '--quiet takes no value'],
    [['dev'], 'unexpected argument dev'],
    [['--', '--quiet'], 'unexpected argument --quiet'],
  ])('%j', (args, message) => {
    expect(() => parseArguments(args, FLAGS)).toThrow(expect.objectContaining({ message, exitCode: 2 }))
  })
})

const GROUPS = {
  '': 'dev tail query mcp doctor send release feedback heartbeat spool forward',
  spool: 'ls show replay purge',
  forward: 'init dead',
  'forward dead': 'ls show replay',
}
const COMMANDS = GROUPS[''].split(' ')

const EVERY_COMMAND = Object.entries(GROUPS).flatMap(([group, names]) =>
  names.split(' ').map((name) => `${group} ${name}`.trim()),
)

const wordsOf = (command: string): string[] => command.split(' ').filter((word) => word !== '')

describe('help', () => {
  test.each(['', ...EVERY_COMMAND])('%s --help has examples and flags, in at most 80 columns', async (command) => {
    const { code, out, err } = await runInProcess([...wordsOf(command), '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const named = [...out.matchAll(/^ {2}(?: {4}|-\w, )--([\w-]+)/gm)].map((match) => match[1])
    expect(named.slice(-3)).toEqual(['json', 'debug', 'help'])
    const examples = out.slice(out.indexOf('Examples:'), out.indexOf('Usage:')).match(/^ {2}\S.*pino-ingest/gm) ?? []
    expect(examples.length).toBeGreaterThan(0)
    expect(examples.length).toBeLessThan(4)
    // Command lines are not broken.
    expect(out.split('\n').filter((line) => line.length > 80 && !line.includes('pino-ingest '))).toEqual([])
    const commands = [...out.matchAll(/^ {2}(\w+) {2,}\w/gm)].map((match) => match[1])
    expect(commands).toEqual(wordsOf(GROUPS[command as keyof typeof GROUPS] ?? ''))
  })

  test('--version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect((await runInProcess(['--version'])).out).toBe(`${version}\n`)
    expect(JSON.parse((await runInProcess(['--version', '--json'])).out)).toEqual({ version })
  })
})

describe('bad usage: exit 2', () => {
  test.each(['doctor', 'spool show', 'spool more', 'forward dead', 'forward dead ls', 'forward init more'])(
    '%s refers to its own help',
    async (command) => {
      const { code, err } = await runInProcess([...wordsOf(command), '--no-such-flag'])
      expect(code).toBe(2)
      expect(err).toMatch(new RegExp(`^See pino-ingest ${command.replace(/ more$/, '')} --help\\.$`, 'm'))
    },
  )

  test.each([
    [['docter'], 'docter, did you mean doctor?'],
    [['logs'], 'did you mean tail?'],
    [['start'], 'did you mean dev?'],
    [['version'], 'did you mean --version?'],
    [['init'], COMMANDS.join(', ')],
    [['constructor'], COMMANDS.join(', ')],
    [['--port', '3'], 'did you mean: dev --port?'],
    [['--quiet', 'doctor'], 'unexpected argument doctor'],
    [['--quite'], 'unknown flag --quite, did you mean --quiet?'],
    [['release', '--version', ''], '--version is empty: --version VERSION'],
    [['dev', '--prot', '1'], 'unknown flag --prot, did you mean --port?'],
    [['dev', '--host', '::1'], '127.0.0.1 only'],
    [['tail', '--trace', 'abc'], "'trace:VALUE'"],
    [['dev', '--port', 'many'], '--port must be an integer from 0 to 65535, got "many"'],
    [['--send-level', 'loud'], 'sendLevel must be one of'],
    [['--pino', '{"customLevels":5}'], 'pino.customLevels must be'],
  ])('%j', async (args, message) => {
    const { code, out, err } = await runInProcess(args)
    expect(err).toMatch(/^pino-ingest/)
    expect(err).toContain(message)
    expect([code, out]).toEqual([2, ''])
  })

  test('a flag for the key is refused without showing the key', async () => {
    for (const args of [
      ['--api-key=s3cret-value'],
      ['--api-key', 's3cret-value'],
      ['doctor', '--apiKey', 's3cret-value'],
    ]) {
      const { code, err } = await runInProcess(args)
      expect([code, err]).toEqual([2, expect.stringContaining('PINO_INGEST_API_KEY_FILE')])
      expect(err).not.toContain('s3cret')
    }
  })

  test('with --json the error is JSON on stderr', async () => {
    for (const [args, error] of [
      [['dev', '--port', 'many'], { code: 'USAGE', message: expect.stringContaining('--port') as string }],
      [
        ['--url', 'http://logs.example.com/api/v1'],
        { code: 'CONFIG', message: expect.stringContaining('https') as string },
      ],
    ] as const) {
      const { code, out, err } = await runInProcess([...args, '--json'])
      expect([code, out, JSON.parse(err)]).toEqual([2, '', { error }])
    }
  })
})
