/** Flags, help and usage errors. */
import { describe, expect, test } from 'vitest'
import { parseArguments } from '../../../src/cli/shared/arguments.js'
import { runCli } from '../run-cli.js'

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

const COMMANDS = [
  'dev',
  'tail',
  'query',
  'mcp',
  'doctor',
  'send',
  'release',
  'feedback',
  'heartbeat',
  'spool',
  'forward',
]

const EVERY_COMMAND = [
  '',
  ...COMMANDS,
  ...['ls', 'show', 'replay', 'purge'].map((name) => `spool ${name}`),
  ...['init', 'dead', 'dead ls', 'dead show', 'dead replay'].map((name) => `forward ${name}`),
]

describe('help', () => {
  test.each(EVERY_COMMAND)('%s --help has examples and flags, in at most 80 columns', async (command) => {
    const { code, stdout, stderr } = await runCli([...command.split(' ').filter((word) => word !== ''), '--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const shown = stdout.toString()
    const named = [...shown.matchAll(/^ {2}(?: {4}|-\w, )--([\w-]+)/gm)].map((match) => match[1])
    expect(named.slice(-3)).toEqual(['json', 'debug', 'help'])
    const examples =
      shown.slice(shown.indexOf('Examples:'), shown.indexOf('Usage:')).match(/^ {2}\S.*pino-ingest/gm) ?? []
    expect(examples.length).toBeGreaterThan(0)
    expect(examples.length).toBeLessThan(4)
    // Command lines are not broken.
    const long = shown.split('\n').filter((line) => line.length > 80 && !line.includes('pino-ingest '))
    expect(long).toEqual([])
  })

  test.each([
    ['', COMMANDS],
    ['spool', ['ls', 'show', 'replay', 'purge']],
    ['forward', ['init', 'dead']],
    ['forward dead', ['ls', 'show', 'replay']],
    ['spool ls', []],
  ])('%s --help lists its commands', async (group, names) => {
    const { stdout } = await runCli([...group.split(' ').filter((word) => word !== ''), '--help'])
    expect([...stdout.toString().matchAll(/^ {2}(\w+) {2,}\w/gm)].map((match) => match[1])).toEqual(names)
  })

  test('--version', async () => {
    const { version } = await import('../../../package.json', { with: { type: 'json' } }).then(
      (module) => module.default,
    )
    expect((await runCli(['--version'])).stdout.toString()).toBe(`${version}\n`)
    expect(JSON.parse((await runCli(['--version', '--json'])).stdout.toString())).toEqual({ version })
  })
})

describe('bad usage: exit 2', () => {
  test('a command after a flag of the pipe', async () => {
    const { code, stderr } = await runCli(['--quiet', 'doctor'])
    expect(code).toBe(2)
    expect(stderr).toContain('unexpected argument doctor; put the command before all flags')
  })

  test.each([
    ['doctor', '--no-such-flag'],
    ['spool show', '--no-such-flag'],
    ['forward dead', '--no-such-flag'],
    ['forward dead ls', '--no-such-flag'],
    ['forward init', 'more'],
    ['forward dead', 'more'],
    ['forward', 'more'],
    ['spool', 'more'],
  ])('%s refers to its own help', async (command, rest) => {
    const { code, stderr } = await runCli([...command.split(' '), rest])
    expect(code).toBe(2)
    expect(stderr).toMatch(new RegExp(`^See pino-ingest ${command} --help\\.$`, 'm'))
  })

  test.each([
    [['docter'], 'unknown command docter, did you mean doctor?'],
    [['logs'], 'unknown command logs, did you mean tail?'],
    [['start'], 'unknown command start, did you mean dev?'],
    [['serve'], 'unknown command serve, did you mean dev?'],
    [['version'], 'unknown command version, did you mean --version?'],
    [['init'], `unknown command init, known are ${COMMANDS.join(', ')}`],
    [['--port', '3'], 'unknown flag --port, did you mean: dev --port?'],
    [['nothing-like-it'], `unknown command nothing-like-it, known are ${COMMANDS.join(', ')}`],
    [['constructor'], `unknown command constructor, known are ${COMMANDS.join(', ')}`],
    [['--quite'], 'unknown flag --quite, did you mean --quiet?'],
    [['release', '--version', ''], '--version is empty: --version VERSION'],
    [['feedback', '--event', 'e', '--comments', ''], '--comments is empty: --comments TEXT'],
    [['dev', '--prot', '1'], 'unknown flag --prot, did you mean --port?'],
    [['dev', '--host', '::1'], 'unknown flag --host, since dev listens on 127.0.0.1 only'],
    [['tail', '--trace', 'abc'], "unknown flag --trace, use the query 'trace:VALUE'"],
    [['dev', '--port', 'many'], '--port must be an integer from 0 to 65535, got "many"'],
    [['--send-level', 'loud'], 'sendLevel must be one of trace, debug, info, warn, error, fatal, got "loud"'],
    [['--pino', '{"customLevels":5}'], 'pino.customLevels must be level names with their numbers'],
  ])('%j', async (args, message) => {
    const result = await runCli(args)
    expect(result.stderr).toMatch(/^pino-ingest/)
    expect(result.stderr).toContain(`: ${message}`)
    expect(result.code).toBe(2)
    expect(result.stdout.length).toBe(0)
  })

  test('a flag for the key is refused without showing the key', async () => {
    const tried = [['--api-key=s3cret-value'], ['--api-key', 's3cret-value'], ['doctor', '--apiKey', 's3cret-value']]
    for (const { code, stderr } of await Promise.all(tried.map((args) => runCli(args)))) {
      expect(code).toBe(2)
      expect(stderr).toContain('PINO_INGEST_API_KEY_FILE')
      expect(stderr).not.toContain('s3cret')
    }
  })

  test('with --json the error is JSON on stderr', async () => {
    const run = async (...args: readonly string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await runCli([...args, '--json'])
      expect([code, stdout.length]).toEqual([2, 0])
      return (JSON.parse(stderr) as { error: unknown }).error
    }
    const dev = await run('dev', '--port', 'many')
    expect(dev).toEqual({ code: 'USAGE', message: expect.stringContaining('--port') as string })
    const pipe = await run('--url', 'http://logs.example.com/api/v1')
    expect(pipe).toEqual({ code: 'CONFIG', message: expect.stringContaining('url must be https') as string })
  })
})
