/** Flags and variables on the pages about fleets exist. permissions.process.test.ts tests the permissions with a server. */
import { describe, expect, test } from 'vitest'
import { deadLsCommand, deadReplayCommand, deadShowCommand } from '../../src/cli/forward/forward-dead.js'
import { forwardInitCommand } from '../../src/cli/forward/forward-init.js'
import { forwardRunCommand } from '../../src/cli/forward/forward-run-command.js'
import { toStreamNames } from '../../src/nats/message.js'
import { ACK_WAIT_MS } from '../../src/nats/streams.js'
import { listAllVariables, OPTION_TABLE } from '../../src/options/option-table.js'
import type { OptionName } from '../../src/options/option-table.js'
import { readText } from '../markdown.js'

const text = readText('docs/fleet.md') + readText('docs/fleet-operations.md')
const unique = (pattern: RegExp): string[] => [...new Set([...text.matchAll(pattern)].map(([all]) => all))]

/** By name in the table of commands. */
const COMMANDS = {
  forward: forwardRunCommand,
  'forward init': forwardInitCommand,
  'forward dead ls': deadLsCommand,
  'forward dead show': deadShowCommand,
  'forward dead replay': deadReplayCommand,
}

describe('the pages about fleets', () => {
  test.each(Object.entries(COMMANDS))('list all flags of %s and no others', (name, { flags = {} }) => {
    const row = text.split('\n').find((line) => line.startsWith(`| \`pino-ingest ${name}\``)) ?? ''
    const named = [...row.matchAll(/--([\w-]+)/g)].map(([, flag]) => flag)
    const known = Object.keys(flags)
    expect(named.filter((flag) => flag !== 'json').toSorted()).toEqual(known.toSorted())
  })

  test('show the defaults of forward init', () => {
    for (const [flag, { meaning }] of Object.entries(forwardInitCommand.flags ?? {})) {
      const [byDefault] = /\([^()]*\)$/.exec(meaning) ?? []
      expect(text).toContain(`\`--${flag}\` ${byDefault}`)
    }
  })

  test('mention only existing variables', () => {
    const known = (Object.keys(OPTION_TABLE) as OptionName[]).flatMap(listAllVariables)
    const names = toStreamNames({ stream: 'PINO_INGEST' })
    const streams = [names.stream, names.deadStream, names.bucket]
    const named = unique(/\bPINO_INGEST[A-Z_]*/g).filter((name) => !streams.includes(name))
    const isPrefix = (name: string): boolean => name.endsWith('_') && known.some((one) => one.startsWith(name))
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter((name) => !known.includes(name) && !isPrefix(name))).toEqual([])
  })

  test('have the settings of the consumers', () => {
    expect(text).toContain(`\`ack_wait\` (${ACK_WAIT_MS / 1_000} s)`)
  })
})
