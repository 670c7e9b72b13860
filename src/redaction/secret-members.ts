/** [worker] Removes named secrets from members, list items and texts of a record. */
import type { Json, JsonObject } from '../protocol/log-entry.js'
import { isObject } from '../shared/argument-checks.js'
import { isMarkedNumber } from '../shared/exact-json.js'
import { Kind, MARKERS, REDACTED, REMOVED } from './secret-names.js'
import type { SecretNames } from './secret-names.js'
import { removeSecretsFromText } from './secret-text.js'

/**
 * Removes named secrets from an entry in place, in members, in values next to a name in objects and lists, and in texts
 * and keys. Headers are removed, or become `[removed]` in texts and lists; values of keys become `[scrubbed]`. Not
 * recursive.
 *
 * @returns the number of removed headers
 */
export function removeSecrets(entry: JsonObject, names: SecretNames): number {
  let removed = 0
  const unvisited: (JsonObject | Json[])[] = [entry]
  // Objects and lists that are direct members of these belong to the interface, and are not replaced.
  const fixed = new Set<Json | undefined>([entry])
  if (Array.isArray(entry['breadcrumbs'])) for (const breadcrumb of entry['breadcrumbs']) fixed.add(breadcrumb)
  const cleanValue = (value: Json): Json => {
    if (typeof value === 'object' && value !== null) unvisited.push(value)
    if (typeof value !== 'string') return value
    const clean = removeSecretsFromText(value, names)
    if (clean !== value && clean.includes(REMOVED)) removed += 1
    return clean
  }
  for (let holder = unvisited.pop(); holder !== undefined; holder = unvisited.pop()) {
    if (Array.isArray(holder)) {
      removed += removeItems(holder, names)
      for (let at = 0; at < holder.length; at += 1) holder[at] = cleanValue(holder[at] as Json)
      continue
    }
    removed += removeSecretMembers(holder, names, fixed.has(holder))
    let renamed = 1
    for (const key of Object.keys(holder)) {
      if (holder[key] === undefined) continue
      const value = cleanValue(holder[key])
      const cleanKey = removeSecretsFromText(key, names)
      if (cleanKey === key) holder[key] = value
      else {
        delete holder[key]
        removed += 1
        renamed += 1
        holder[Object.hasOwn(holder, cleanKey) ? `${cleanKey}_${renamed}` : cleanKey] = value
      }
    }
  }
  return removed
}

/** As `removeSecrets`, but only for the members of one object. @param keepsContainers whether only texts become `[scrubbed]` */
export function removeSecretMembers(holder: JsonObject, names: SecretNames, keepsContainers = false): number {
  let removed = 0
  const keys = Object.keys(holder)
  let found = 0
  for (const key of keys) found |= names.readKinds(key)
  let pair = 0
  if ((found & Kind.value) !== 0)
    for (const key of keys) if ((names.readKinds(key) & Kind.name) !== 0) pair |= findNameKinds(holder[key], names)
  if (pair === 0 && (found & (Kind.header | Kind.secretKey | Kind.auth)) === 0) return 0
  for (const key of keys) {
    const value = holder[key]
    if (value === undefined) continue
    const own = names.readKinds(key)
    const kind = (own & Kind.value) === 0 ? own : own | pair
    const isAuth = (kind & Kind.auth) !== 0
    // A name may be both: the default of `scrub.keys` has the names of common headers.
    if ((kind & Kind.secretKey) !== 0) {
      if (typeof value === 'number' && (kind & Kind.header) !== 0) holder[key] = REDACTED
      else if (typeof value === 'string' || !keepsContainers) holder[key] = redactValue(value)
    } else if ((kind & Kind.header) !== 0 || (isAuth && typeof value === 'string' && value.includes(':'))) {
      delete holder[key]
      removed += 1
    } else if (isAuth && isObject(value) && Object.hasOwn(value, 'password')) {
      delete value['password']
      removed += 1
    }
  }
  return removed
}

/**
 * Replaces values that follow their name in a list: Node's `rawHeaders`, pairs, entries of a Map, arguments of a program.
 * A name in `scrub.keys` may be in a plain list of field names, so the next item is replaced only after an argument
 * (`--password`) or in a list of pairs.
 *
 * @returns the number of removed headers
 */
function removeItems(list: Json[], names: SecretNames): number {
  let removed = 0
  let before = 0
  for (let at = 0; at < list.length; at += 1) {
    const item = list[at] as Json
    const kind = findNameKinds(item, names)
    if (
      before === Kind.header &&
      kind !== Kind.header &&
      item !== REMOVED &&
      item !== null &&
      typeof item !== 'boolean'
    ) {
      list[at] = REMOVED
      removed += 1
    } else if (before === Kind.secretKey && kind === 0 && String(list[at - 1]).startsWith('-'))
      list[at] = redactValue(item)
    else if (Array.isArray(item) && findNameKinds(item[0], names) !== 0)
      for (let next = 1; next < item.length; next += 1) item[next] = redactValue(item[next] as Json)
    before = kind
  }
  return removed
}

/** Whether a text is the name of a header or a key. */
function findNameKinds(text: Json | undefined, names: SecretNames): number {
  if (typeof text !== 'string') return 0
  const kinds = names.readKinds(text)
  return (kinds & Kind.header) === 0 ? kinds & Kind.secretKey : Kind.header
}

/** Numbers, booleans and empty values are no secrets. */
function redactValue(value: Json): Json {
  if (typeof value === 'string') return value === '' || isMarkedNumber(value) || MARKERS.has(value) ? value : REDACTED
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0 ? REDACTED : value
}
