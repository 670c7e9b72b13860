/** Which runs of `send` belong together, as far as their options go. Pure. */
import { createHash } from 'node:crypto'
import type { Settings } from '../../options/resolve-options.js'

/**
 * Stands for the options that say which entries come of a file. Not for those that come from the place where the command runs,
 * as the version and the commit of a build: a file that was interrupted in one build would be sent twice in the next.
 */
export function optionsTag(settings: Settings): string {
  const { level, messageKey, errorKey, nestedKey, customLevels, service, environment, tags, metadata } = settings
  const told = [level, messageKey, errorKey, nestedKey, customLevels, service, environment, tags, metadata]
  return createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 16)
}
