/** The messages in the documentation are generated from the catalog: `npm run docs` writes them. */
import { expect, test } from 'vitest'
import {
  APPLICATION_MESSAGES,
  DROP_MESSAGES,
  QUEUE_MESSAGES,
  SERVICE_MESSAGES,
  SPOOL_MESSAGES,
} from '../../src/diagnostics/messages.js'
import type { Message } from '../../src/diagnostics/messages.js'
import type { IngestErrorCode } from '../../src/shared/errors.js'
import { regionOf, writeRegion } from '../markdown.js'

const DOCUMENT = 'docs/errors.md'

const SECTIONS: Readonly<Record<string, Readonly<Record<string, Message & { readonly reason?: string }>>>> = {
  service: SERVICE_MESSAGES,
  queue: QUEUE_MESSAGES,
  drops: DROP_MESSAGES,
  spool: SPOOL_MESSAGES,
  application: APPLICATION_MESSAGES,
}

function toSection([name, { code, reason, text, cause, remedy }]: [string, (typeof SECTIONS)[string][string]]): string {
  const kind = code ?? (reason && `dropped (${reason})`)
  const title = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const line = text(...Array.from({ length: text.length }, () => '…'))
  const quotes = line.includes('`') ? '``' : '`'
  return [
    `### ${kind === undefined ? title : `${kind}: ${title}`}`,
    `${quotes}${line}${quotes}`,
    `Means: ${cause}\\\nDo: ${remedy}`,
  ].join('\n\n')
}

test.each(Object.entries(SECTIONS))('the messages about the %s are up to date', (name, messages) => {
  const sections = `\n${Object.entries(messages).map(toSection).join('\n\n')}\n`
  if (process.env['UPDATE_DOCS'] === '1') writeRegion(DOCUMENT, `messages: ${name}`, sections)
  expect(regionOf(DOCUMENT, `messages: ${name}`)).toBe(sections.trim())
})

test('every error code of the client has a section with what it means and what to do', () => {
  // By the compiler: neither a code too few nor one too many.
  const codes: Record<IngestErrorCode, true> = {
    CONFIG: true,
    INVALID: true,
    AUTH: true,
    REJECTED: true,
    RATE_LIMITED: true,
    UNAVAILABLE: true,
    MISDIRECTED: true,
    SPOOL: true,
    ABORTED: true,
  }
  const found = [...regionOf(DOCUMENT, 'errors').matchAll(/^### `(\w+)`\n\nMeans: .+\\\nDo: .+$/gm)]
  expect(found.map(([, code]) => code)).toEqual(Object.keys(codes))
})
