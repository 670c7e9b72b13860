/** The application's own labels, checked once so rendering cannot fail. */
import { IngestError } from '../../shared/errors.js'
import { formatValue, formatName } from '../../options/format-value.js'
import { LABELS } from './metric-families.js'

/** Per the Prometheus data model; two leading underscores are reserved for Prometheus. */
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/
/** This package's labels, and those of Prometheus' histograms and summaries. */
const RESERVED: ReadonlySet<string> = new Set([...Object.keys(LABELS), 'le', 'quantile'])

/** @returns a copy @throws IngestError `CONFIG` for a name that is illegal or reserved, or a value that is not a string */
export function parseLabels(labels: unknown): Readonly<Record<string, string>> {
  if (labels === undefined) return {}
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels)) {
    throw new IngestError(
      'CONFIG',
      `labels must be an object of texts, as { app: 'checkout' }; got ${formatValue(labels)}`,
    )
  }
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]: [string, unknown]) => [
      parseLabelName(name),
      parseLabelValue(name, value),
    ]),
  )
}

function parseLabelName(name: string): string {
  if (!LABEL_NAME.test(name)) {
    throw new IngestError(
      'CONFIG',
      `a label's name must be letters, digits and _, not begin with a digit or __; got ${formatValue(name)}`,
    )
  }
  if (RESERVED.has(name))
    throw new IngestError('CONFIG', `the label ${name} is reserved (${[...RESERVED].join(', ')}); take another name`)
  return name
}

/** A lone surrogate cannot be encoded as UTF-8. */
function parseLabelValue(name: string, value: unknown): string {
  if (typeof value !== 'string')
    throw new IngestError('CONFIG', `the label ${formatName(name)} must be text; got ${formatValue(value)}`)
  return value.toWellFormed()
}
