/** Generates the tables of options in README.md and docs/options.md. `npm run docs` writes them; tests compare them. */
import type { Kind, Row } from '../../src/options/kinds.js'
import { findVariables } from '../../src/options/option-group.js'
import { OPTION_TABLE, listPaths, findRow, SECTIONS } from '../../src/options/option-table.js'
import type { OptionName, PathRow } from '../../src/options/option-table.js'
import { defaultValueText, ruleText } from './render-interface.js'

/** The options that most applications set, in the README: meaning in short, and default where that of the table is long. */
const USUAL: Readonly<Record<string, readonly [meaning: string, defaultText?: string]>> = {
  url: ['base URL of the log service', 'none'],
  apiKey: ['key for the log service', 'none'],
  service: ['service name: the name of your application', "pino's `name`, or that in `package.json`"],
  environment: ['such as `production`', '`NODE_ENV`'],
  sendLevel: ['lowest level to send'],
  requestLogs: ['send HTTP requests to request analytics, too'],
  'scrub.patterns': ['what to remove from texts, such as `email`'],
  spool: ['keep entries on disk until they are acknowledged', 'on'],
}

const NAMES = Object.keys(OPTION_TABLE) as OptionName[]
const HEAD = ['| option | variables | default | meaning |', '|---|---|---|---|']

/** The README's table, without links. */
export function usualOptionsMarkdown(): string {
  const rows = NAMES.flatMap(listPaths).flatMap((one) => {
    const [meaning, defaultText = defaultCell(one.row)] = USUAL[one.path] ?? []
    return meaning === undefined ? [] : [[`\`${one.path}\``, variablesCell(one), defaultText, meaning]]
  })
  return [...HEAD, ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n')
}

/** The tables of docs/options.md: all options by section. */
export function optionsMarkdown(): string {
  return SECTIONS.map((title) => {
    const own = NAMES.filter((name) => findRow(name).section === title)
    return `## ${title}\n\n${formatTable(own.flatMap(listPaths))}`
  }).join('\n\n')
}

function formatTable(rows: readonly PathRow[]): string {
  return [...HEAD, ...rows.filter(({ row }) => row.isInGroupRow !== true).map(formatRow)].join('\n')
}

function formatRow(one: PathRow): string {
  const { row, path } = one
  const sentences = [row.meaning, /^(?:an integer|one of)/.test(row.kind.rule) ? valuesText(row.kind) : '']
  return `| \`${path}\` | ${variablesCell(one)} | ${defaultCell(row)} | ${sentences.filter((text) => text !== '').join('. ')} |`
}

function variablesCell(one: PathRow): string {
  return shownVariables(one)
    .map((variable) => `\`${variable}\``)
    .join(', ')
}

/** The values that the option accepts. */
function valuesText(kind: Kind<unknown>): string {
  const [, values] = /^one of (.+)$/.exec(kind.rule) ?? []
  return values === undefined ? ruleText(kind).replace(/\.$/, '') : `One of ${values}`
}

function defaultCell(row: Row<unknown>): string {
  if (row.defaultText !== undefined) return row.defaultText
  return row.kind.members === undefined ? defaultValueText(row, (literal) => `\`${literal}\``) : ''
}

/** Includes the variables of members that are part of the group's row. */
function shownVariables({ path: at, row }: PathRow): string[] {
  const parts = Object.entries(row.kind.members ?? {}).filter(([, member]) => member.isInGroupRow === true)
  return [
    ...findVariables(row, at),
    ...parts.flatMap(([name, member]) => shownVariables({ path: `${at}.${name}`, row: member })),
  ]
}
