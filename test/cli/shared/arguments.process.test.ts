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

const COMMANDS = ['dev', 'tail', 'doctor', 'send', 'release', 'feedback', 'heartbeat', 'spool', 'forward', 'version']

const FLAGS_OF: Record<string, readonly string[]> = {
  '': [
    'quiet',
    'url',
    'service',
    'environment',
    'level',
    'message-key',
    'error-key',
    'nested-key',
    'level-key',
    'custom-levels',
    'version',
    'json',
    'debug',
    'help',
  ],
  dev: ['port', 'host', 'db', 'max-entries', 'max-bytes', 'max-age', 'quiet', 'show', 'json', 'debug', 'help'],
  tail: [
    'url',
    'level',
    'service',
    'environment',
    'version',
    'release',
    'tag',
    'trace',
    'request',
    'fingerprint',
    'search',
    'lines',
    'full',
    'json',
    'debug',
    'help',
  ],
  doctor: ['url', 'report', 'json', 'debug', 'help'],
  release: [
    'version',
    'commit',
    'branch',
    'deployed-by',
    'changelog',
    'changelog-file',
    'url',
    'json',
    'debug',
    'help',
  ],
  feedback: ['event', 'comments', 'name', 'email', 'url', 'json', 'debug', 'help'],
  heartbeat: ['name', 'url', 'json', 'debug', 'help'],
  spool: ['json', 'debug', 'help'],
  'spool ls': ['dir', 'json', 'debug', 'help'],
  'spool show': ['dir', 'limit', 'json', 'debug', 'help'],
  'spool replay': ['all', 'timeout', 'dir', 'json', 'debug', 'help'],
  'spool purge': ['all', 'older-than', 'yes', 'dir', 'json', 'debug', 'help'],
}

const EVERY_COMMAND = [
  '',
  ...COMMANDS,
  ...['ls', 'show', 'replay', 'purge'].map((name) => `spool ${name}`),
  ...['init', 'dead', 'dead ls', 'dead show', 'dead replay'].map((name) => `forward ${name}`),
]

describe('help', () => {
  test.each(Object.entries(FLAGS_OF))('%s --help names its flags, as text and JSON', async (command, flags) => {
    const args = command === '' ? [] : command.split(' ')
    const text = await runCli([...args, '--help'])
    expect(text).toMatchObject({ code: 0, stderr: '' })
    const named = [...text.stdout.toString().matchAll(/^ {2}(?: {4}|-\w, )--([\w-]+)/gm)].map((match) => match[1])
    expect(named).toEqual(flags)
    const json = await runCli([...args, '--help', '--json'])
    const data = JSON.parse(json.stdout.toString()) as { flags: { name: string }[] }
    expect(data.flags.map(({ name }) => name)).toEqual(flags)
  })

  test.each([
    ['', COMMANDS],
    ['spool', ['ls', 'show', 'replay', 'purge']],
    ['forward', ['init', 'dead']],
    ['forward dead', ['ls', 'show', 'replay']],
    ['spool ls', []],
  ])('%s --help lists its commands, as text and JSON', async (group, names) => {
    const args = [...group.split(' ').filter((word) => word !== ''), '--help']
    const [text, json] = await Promise.all([runCli(args), runCli([...args, '--json'])])
    expect([...text.stdout.toString().matchAll(/^ {2}(\w+) {2,}\w/gm)].map((match) => match[1])).toEqual(names)
    const { commands } = JSON.parse(json.stdout.toString()) as { commands: { name: string }[] }
    expect(commands.map(({ name }) => name)).toEqual(names)
  })

  test('the main help names the variables for the key', async () => {
    expect((await runCli(['--help'])).stdout.toString()).toContain('PINO_INGEST_API_KEY_FILE')
  })

  test.each(EVERY_COMMAND)('%s --help shows one to three examples first', async (command) => {
    const args = [...command.split(' ').filter((word) => word !== ''), '--help']
    const [text, json] = await Promise.all([runCli(args), runCli([...args, '--json'])])
    const { examples } = JSON.parse(json.stdout.toString()) as { examples: { line: string }[] }
    expect(examples.length).toBeGreaterThan(0)
    expect(examples.length).toBeLessThan(4)
    const shown = text.stdout.toString()
    for (const { line } of examples) expect(shown.indexOf(line)).toBeGreaterThan(0)
    expect(shown.indexOf('Examples:')).toBeLessThan(shown.indexOf('Usage:'))
  })

  test('version and --version', async () => {
    const { version } = await import('../../../package.json', { with: { type: 'json' } }).then(
      (module) => module.default,
    )
    expect((await runCli(['version'])).stdout.toString()).toBe(`${version}\n`)
    expect(JSON.parse((await runCli(['version', '--json'])).stdout.toString())).toEqual({ version })
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
    [['nothing-like-it'], `unknown command nothing-like-it, known are ${COMMANDS.join(', ')}`],
    [['constructor'], `unknown command constructor, known are ${COMMANDS.join(', ')}`],
    [['--quite'], 'unknown flag --quite, did you mean --quiet?'],
    [['release', '--version', ''], '--version is empty: --version VERSION'],
    [['feedback', '--event', 'e', '--comments', ''], '--comments is empty: --comments TEXT'],
    [['dev', '--prot', '1'], 'unknown flag --prot, did you mean --port?'],
    [['dev', '--port', 'many'], '--port must be an integer from 0 to 65535, got "many"'],
    [['dev', '--host', '0.0.0.0'], '--host must be 127.0.0.1, ::1, localhost'],
    [['--level', 'loud'], 'level must be one of trace, debug, info, warn, error, fatal, got "loud"'],
    [['--custom-levels', 'audit'], 'pino.customLevels must be level names with their numbers'],
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

  test('with --json the error is JSON on stdout, for the pipe on stderr', async () => {
    const dev = await runCli(['dev', '--port', 'many', '--json'])
    expect(JSON.parse(dev.stdout.toString())).toEqual({
      error: { code: 'USAGE', message: expect.stringContaining('--port') },
    })
    expect(dev).toMatchObject({ code: 2, stderr: '' })
    const pipe = await runCli(['--json', '--url', 'http://logs.example.com/api/v1'])
    expect(JSON.parse(pipe.stderr)).toEqual({
      error: { code: 'CONFIG', message: expect.stringContaining('url must be https') },
    })
    expect(pipe).toMatchObject({ code: 2, stdout: Buffer.alloc(0) })
  })
})
