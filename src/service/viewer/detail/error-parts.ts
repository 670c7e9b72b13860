/** Reads an error's properties besides type, message and stack; senders put them into `metadata.error` (pure). */
import type { Json } from '../../../protocol/log-entry.js'
import { isContainer } from './tree.js'

const MAX_PROPERTIES = 12
const MAX_CHARS = 500

/** Returns `code`, `errno`, `syscall` and other short properties. */
export function listProperties(more: Json | undefined): Readonly<Record<string, string>> {
  if (more === undefined || !isContainer(more) || Array.isArray(more)) return {}
  const fitting: Record<string, string> = {}
  for (const key of Object.keys(more).slice(0, MAX_PROPERTIES)) {
    const value = more[key]
    if (value === undefined || isContainer(value) || String(value).length > MAX_CHARS) continue
    fitting[key] = String(value)
  }
  return fitting
}

const MAX_MEMBERS = 100

/** Returns the stacks of an `AggregateError`'s members, if the sender did not include them in the error's own stack. */
export function listMemberStacks(more: Json | undefined): readonly string[] {
  if (more === undefined || !isContainer(more) || Array.isArray(more)) return []
  const lists = ['aggregateErrors', 'errors'].map((key) => more[key]).filter((list) => Array.isArray(list))
  return lists
    .flat()
    .slice(0, MAX_MEMBERS)
    .flatMap((member) => {
      const stack = member !== undefined && isContainer(member) && !Array.isArray(member) ? member['stack'] : undefined
      return typeof stack === 'string' && stack !== '' ? [stack] : []
    })
}
