/** Refuses options that do not exist: a mistyped name would have no effect. */
import { IngestError } from '../shared/errors.js'
import { formatName } from './format-value.js'
import { findNearestName } from '../shared/nearest-name.js'

/** @throws IngestError `CONFIG` @param owner the function, such as `ingestMetrics()` */
export function checkNames(owner: string, options: object, names: readonly string[]): void {
  const wrong = Object.keys(options).find((name) => !names.includes(name))
  if (wrong === undefined) return
  const near = findNearestName(wrong, names)
  throw new IngestError(
    'CONFIG',
    `${owner} has no option ${formatName(wrong)}${near === undefined ? '' : `; did you mean ${near}?`}`,
  )
}
