/** Options that are groups of options: each member has its own rule, variables and default. */
import { flag, isPlainObject, parseJson } from './kinds.js'
import type { Kind, Members, Row } from './kinds.js'

type ValueOf<R> = R extends { readonly kind: Kind<infer T> } ? T : never

/** An undefined member counts as not given, as an option does. */
type MembersOf<M> = { -readonly [Name in keyof M]?: ValueOf<M[Name]> | undefined }

/** Values that are short for an object. */
interface ShortForm<T> {
  /** Precedes "an object with …". */
  readonly rule: string
  is(value: unknown): value is T
  expand(value: T): Readonly<Record<string, unknown>>
}

export const onOff: ShortForm<boolean> = {
  rule: 'true, false or ',
  is: (value) => typeof value === 'boolean',
  expand: (enabled) => ({ enabled }),
}

export const onOffOrOnly: ShortForm<boolean | 'only'> = {
  rule: 'true, false, only or ',
  is: (value) => value === 'only' || typeof value === 'boolean',
  expand: (value) => (value === 'only' ? { only: true } : { enabled: value }),
}

/** A word such as `yes` is no folder. */
export const onOffOrPath: ShortForm<boolean | string> = {
  rule: 'true, false, a path with a slash or ',
  is: (value): value is boolean | string =>
    typeof value === 'boolean' || (typeof value === 'string' && /[/\\]/.test(value)),
  expand: (value) => (typeof value === 'string' ? { dir: value } : { enabled: value }),
}

/** Without the list's own `keys`, in whose place editors show the member of that name. */
export type PatternList = Omit<readonly string[], 'keys'>

export const patternList: ShortForm<PatternList> = {
  rule: 'a list of patterns or ',
  is: (value): value is PatternList => Array.isArray(value),
  expand: (patterns) => ({ patterns }),
}

/** With the member `enabled`, any other member switches the group on. */
export function group<const M extends Members>(members: M): Kind<MembersOf<M>>
export function group<const M extends Members, S>(members: M, short: ShortForm<S>): Kind<S | MembersOf<M>>
export function group<const M extends Members, S>(members: M, short?: ShortForm<S>): Kind<S | MembersOf<M>> {
  return {
    members,
    rule: `${short?.rule ?? ''}an object with ${Object.keys(members).join(', ')} (in a variable: JSON)`,
    read: (value) => {
      const read = short?.is(value) === true ? short.expand(value) : value
      return isPlainObject(read) ? (read as MembersOf<M>) : undefined
    },
    parse: (text) => {
      const read = flag.parse(text)
      return typeof read === 'boolean' ? read : parseJson(text)
    },
  }
}

/** Variables of an option or a member, which `path` names. */
export function findVariables({ variables, isFile }: Row<unknown>, path: string): readonly string[] {
  const name = path.replaceAll('.', '_').replace(/[A-Z]/g, '_$&').toUpperCase()
  return variables ?? [`PINO_INGEST_${name}${isFile === true ? '_FILE' : ''}`]
}
