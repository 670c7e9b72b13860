/** The tables of messages in the documentation are generated from the catalog: `npm run docs` writes them. */
import { expect, test } from 'vitest'
import {
  APPLICATION_MESSAGES,
  DROP_MESSAGES,
  QUEUE_MESSAGES,
  SERVICE_MESSAGES,
  SPOOL_MESSAGES,
} from '../../src/diagnostics/messages.js'
import type { Message } from '../../src/diagnostics/messages.js'
import { regionOf, writeRegion } from '../markdown.js'

const DOCUMENT = 'docs/messages.md'

const TABLES: Readonly<Record<string, Readonly<Record<string, Message & { readonly reason?: string }>>>> = {
  service: SERVICE_MESSAGES,
  queue: QUEUE_MESSAGES,
  drops: DROP_MESSAGES,
  spool: SPOOL_MESSAGES,
  application: APPLICATION_MESSAGES,
}

function toTable(messages: (typeof TABLES)[string]): string {
  const rows = Object.values(messages).map(({ code, reason, text, cause, remedy }) => {
    const facts = Array.from({ length: text.length }, () => '…')
    const kind = code ?? reason
    return `| \`${text(...facts)}\` | ${kind === undefined ? '' : `\`${kind}\``} | ${cause} | ${remedy} |`
  })
  const kind = Object.values(messages).some(({ reason }) => reason !== undefined) ? 'reason' : 'code'
  return [`| message | ${kind} | cause | what to do |`, '|---|---|---|---|', ...rows].join('\n')
}

test.each(Object.entries(TABLES))('the table of messages about the %s is up to date', (name, messages) => {
  const table = toTable(messages)
  if (process.env['UPDATE_DOCS'] === '1') writeRegion(DOCUMENT, `messages: ${name}`, table)
  expect(regionOf(DOCUMENT, `messages: ${name}`)).toBe(table)
})
