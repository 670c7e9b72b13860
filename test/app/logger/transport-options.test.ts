/** `ingestOptions()` refuses names that `ingestStream()` would correct, and passes on those of pino, pino-http and others. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { separateOptions } from '../../../src/app/logger/transport-options.js'
import { resolve } from '../../options/resolve.js'

const MISTYPED = [
  'batchSize',
  'flushInterval',
  'maxRetries',
  'spoolDir',
  'debug',
  'timeout',
  'apikey',
  'token',
  'batching',
]

function messageOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return String(error)
  }
  return 'nothing was thrown'
}

test.each(MISTYPED)('%s is refused, with the suggestion of ingestStream()', (name) => {
  const suggestion = /did you mean ([^?]+)\?/
  const wanted = suggestion.exec(messageOf(() => resolve({ [name]: 1 })))?.[1]
  expect(wanted).toBeDefined()
  expect(suggestion.exec(messageOf(() => separateOptions({ [name]: 1 }, {})))?.[1]).toBe(wanted)
})

test('a member without its group is refused, with its path', () => {
  for (const [name, path] of Object.entries({ durability: 'spool.durability', patterns: 'scrub.patterns' }))
    expect(messageOf(() => separateOptions({ [name]: 1 }, {}))).toContain(`did you mean ${path}?`)
})

/** The members at the first level of an interface. */
function membersOf(file: string, name: string): string[] {
  const body =
    new RegExp(`interface ${name}<[^\\n]*\\n(.*?)\\n {0,4}\\}\\n`, 's').exec(readFileSync(file, 'utf8'))?.[1] ?? ''
  const indent = /^ +/m.exec(body)?.[0] ?? ''
  return [...body.matchAll(new RegExp(`^${indent}(\\w+)\\?:`, 'gm'))].map(([, member]) => member as string)
}

const OTHERS = [
  ...membersOf('node_modules/pino/pino.d.ts', 'LoggerOptions'),
  ...membersOf('node_modules/pino-http/index.d.ts', 'Options'),
]

test('every option of pino and pino-http is passed on', () => {
  expect(OTHERS).toEqual(
    expect.arrayContaining(['transport', 'errorKey', 'crlf', 'hooks', 'genReqId', 'quietResLogger']),
  )
  const given = Object.fromEntries(OTHERS.map((name) => [name, 1]))
  expect(separateOptions(given, {})).toEqual({ flat: {}, own: given })
})
