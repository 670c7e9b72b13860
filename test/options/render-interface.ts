/** Generates `options-interface.ts` from the table of options. `npm run docs` writes it; a test compares it. */
import { headers } from '../../src/options/headers.js'
import {
  flag,
  hook,
  key,
  keys,
  levels,
  object,
  path as filePath,
  pem,
  proxyUrl,
  requestPaths,
  secretKeys,
  share,
  text,
  texts,
} from '../../src/options/kinds.js'
import type { Kind, Row } from '../../src/options/kinds.js'
import { natsCredentials, streamName } from '../../src/options/nats-settings.js'
import { findVariables } from '../../src/options/option-group.js'
import { addDefaults } from '../../src/options/option-reader.js'
import { OPTION_TABLE } from '../../src/options/option-table.js'
import { scrubPatterns } from '../../src/options/scrub-patterns.js'

/** Types of the kinds that say it by nothing else. The types of the whole interface are compared with those of the table. */
const TYPES: ReadonlyMap<Kind<unknown>, string> = new Map<Kind<unknown>, string>([
  [flag, 'boolean'],
  [text, 'string'],
  [filePath, 'string'],
  [key, 'string'],
  [streamName, 'string'],
  [share, 'number'],
  [keys, 'readonly string[]'],
  [texts, 'readonly string[]'],
  [requestPaths, 'readonly string[]'],
  [secretKeys, 'readonly string[]'],
  [scrubPatterns, 'readonly string[]'],
  [pem, 'string | Uint8Array'],
  [natsCredentials, 'string | Uint8Array'],
  [object, 'JsonObject'],
  [levels, 'Readonly<Record<string, number>>'],
  [headers, 'Readonly<Record<string, string | undefined>>'],
  [hook, 'string | BeforeSend'],
  [proxyUrl, 'string | false'],
])

/** Types that are short for an object, by option. */
const SHORT_FORMS: Readonly<Record<string, readonly string[]>> = {
  breadcrumbs: ['boolean'],
  requestLogs: ['boolean', "'only'"],
  scrub: ['PatternList'],
  spool: ['boolean', 'string'],
}

/** Kinds whose rule says more than their type and their meaning. */
const EXPLAINED: ReadonlySet<Kind<unknown>> = new Set<Kind<unknown>>([key, share, pem, streamName])

const LINE_WIDTH = 140
const DAY_MS = 86_400_000
const BYTE_UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

const HEAD = `/**
 * The options that can be set in code. Generated from the table of options (\`option-table.ts\`) by \`npm run docs\`: change the table.
 */
import type { JsonObject } from '../protocol/log-entry.js'
import type { BeforeSend } from './kinds.js'
import type { PatternList } from './option-group.js'

/**
 * Options of the transport and of \`ingestStream()\`, listed in \`docs/options.md\`. Options can also be set with environment variables; a value
 * in code wins. All are optional. In production \`url\` or \`nats\` is required. \`apiKey\` is required unless the host of \`url\` is loopback.
 */
export interface IngestOptions `

/** @returns the content of `options-interface.ts` */
export function renderInterface(): string {
  return `${HEAD}${membersText(OPTION_TABLE, '', '')}\n`
}

function membersText(members: Readonly<Record<string, Row<unknown>>>, parent: string, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(members).map(([name, row]) => {
    const path = `${parent}${name}`
    return `${commentText(row, path, inner)}\n${inner}${name}?:${typeText(row.kind, path, inner)}`
  })
  return `{\n${lines.join('\n')}\n${indent}}`
}

function typeText(kind: Kind<unknown>, path: string, indent: string): string {
  if (kind.members !== undefined) {
    const membersType = `| ${membersText(kind.members, `${path}.`, `${indent}    `)}`
    const short = SHORT_FORMS[path]?.map((one) => `| ${one}`) ?? []
    return ['', ...short, membersType, '| undefined'].join(`\n${indent}  `)
  }
  const [, values] = /^one of (.+)$/.exec(kind.rule) ?? []
  const words = values?.split(', ').map((one) => (one === 'false' ? one : `'${one}'`))
  const type = words?.join(' | ') ?? (rangeOf(kind) === undefined ? TYPES.get(kind) : 'number')
  if (type === undefined) throw new Error(`the type of ${path} is unknown: add its kind to TYPES`)
  return ` ${type} | undefined`
}

function commentText(row: Row<unknown>, path: string, indent: string): string {
  const sentences = [toSentence(row.meaning), ruleText(row.kind)].filter((one) => one !== '').join(' ')
  const start = `${indent} * `
  const value = defaultText(row)
  const blocks = [sentences, variablesText(row, path), value === 'none' ? '' : `@default ${value}`].filter(
    (one) => one !== '',
  )
  if (row.isInGroupRow === true && blocks.length === 1) return `${indent}/** ${sentences} */`
  const lines = blocks.flatMap((block) => wrap(block, LINE_WIDTH - start.length))
  return `${indent}/**\n${lines.map((line) => `${start}${line}`).join('\n')}\n${indent} */`
}

/** An editor cannot follow links between the pages of `docs/`: their path is shown. */
function toSentence(meaning: string): string {
  const plain = meaning.replaceAll(/\[([^\]]+)\]\((?:\.\.\/)*([^)#]+)[^)]*\)/g, '$1 (`docs/$2`)')
  return `${plain[0]?.toUpperCase()}${plain.slice(1)}.`
}

export function ruleText(kind: Kind<unknown>): string {
  const range = rangeOf(kind)
  if (range !== undefined) {
    const { min, max, unit } = range
    if (unit === 'bytes') return `In bytes, from ${bytesText(min)} to ${bytesText(max)}.`
    if (unit === 'ms') return `In milliseconds, from ${min} to ${millisecondsText(max)}.`
    return `An integer from ${min} to ${max}.`
  }
  return EXPLAINED.has(kind) ? toSentence(kind.rule) : ''
}

function rangeOf({ rule }: Kind<unknown>): { min: number; max: number; unit: string | undefined } | undefined {
  const found = /^an integer from (\d+) to (\d+)(?: \((\w+)\))?$/.exec(rule)
  return found === null ? undefined : { min: Number(found[1]), max: Number(found[2]), unit: found[3] }
}

function variablesText(row: Row<unknown>, path: string): string {
  const variables = findVariables(row, path)
  if (variables.length === 0) return ''
  const names = variables.map((one) => `\`${one}\``).join(', ')
  const [, format] = /\(in a variable: (.+)\)$/.exec(row.kind.rule) ?? []
  const written = row.isFile === true ? 'path of a file' : format
  const isExplained = written === undefined || row.meaning.includes('variable')
  return `${variables.length === 1 ? 'Variable' : 'Variables, the first that is set'}: ${names}${isExplained ? '' : ` (${written})`}.`
}

function defaultText(row: Row<unknown>): string {
  return row.defaultText?.replaceAll('`', '') ?? defaultValueText(row, (literal) => literal)
}

/** @param quote marks the value as code, without its translation to a larger unit */
export function defaultValueText(row: Row<unknown>, quote: (literal: string) => string): string {
  const value = addDefaults(row, undefined)
  if (value === undefined) return 'none'
  const range = rangeOf(row.kind)
  const long =
    range?.unit === 'bytes' ? bytesText(value as number) : range?.unit === 'ms' ? daysText(value as number) : undefined
  return quote(literalText(value)) + (long === undefined ? '' : ` (${long})`)
}

function literalText(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/"(\w+)":/g, '$1:')
    .replaceAll('"', "'")
    .replaceAll(/\[ | \]/g, (bracket) => bracket.trim())
}

function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  for (; value % 1024 === 0 && unit < BYTE_UNITS.length - 1; unit++) value /= 1024
  return `${value} ${BYTE_UNITS[unit]}`
}

function millisecondsText(value: number): string {
  const days = daysText(value)
  return days === undefined ? String(value) : `${value} (${days})`
}

function daysText(value: number): string | undefined {
  const days = value / DAY_MS
  return value === 0 || !Number.isInteger(days) ? undefined : `${days} ${days === 1 ? 'day' : 'days'}`
}

function wrap(words: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
