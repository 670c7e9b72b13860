/** Describes the refused part of a body, so that the developer finds the log call (pure). */
import { isObject } from '../../shared/argument-checks.js'
import { truncate } from '../query/truncate.js'
import type { RejectionReason } from '../store/stored-record.js'

const MAX_VALUE = 300
const MAX_TEXT = 200

/** @param loc path from the body */
export function describeRefused(body: unknown, loc: RejectionReason['loc']): Pick<RejectionReason, 'value' | 'entry'> {
  const [list, index] = loc
  const entry = typeof index === 'number' ? valueAt(body, [list as string, index]) : undefined
  const { message, service } = isObject(entry) ? entry : {}
  const value = loc.length === 0 ? undefined : JSON.stringify(valueAt(body, loc))
  const described = {
    ...(typeof message === 'string' && { message: truncate(message, MAX_TEXT) }),
    ...(typeof service === 'string' && { service: truncate(service, MAX_TEXT) }),
  }
  return {
    ...(value !== undefined && { value: truncate(value, MAX_VALUE) }),
    ...(Object.keys(described).length > 0 && { entry: described }),
  }
}

function valueAt(body: unknown, loc: RejectionReason['loc']): unknown {
  let value = body
  for (const key of loc) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string | number, unknown>)[key]
  }
  return value
}
