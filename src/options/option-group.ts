/** Options that are groups of options: each member has its own rule, variables and default. */
import { flag, isPlainObject, parseJson } from './kinds.js'
import type { Kind, Members, Row } from './kinds.js'

type ValueOf<R> = R extends { readonly kind: Kind<infer T> } ? T : never

/** An undefined member counts as not given, as an option does. */
type MembersOf<M> = { -readonly [Name in keyof M]?: ValueOf<M[Name]> | undefined }

export function group<const M extends Members>(members: M): Kind<MembersOf<M>> {
  return {
    members,
    rule: `an object with ${Object.keys(members).join(', ')} (in a variable: JSON)`,
    read: (value) => (isPlainObject(value) ? (value as MembersOf<M>) : undefined),
    parse: parseJson,
  }
}

interface SwitchWords {
  /** What words other than `true` and `false` mean in the variable. */
  readonly words?: Readonly<Record<string, unknown>>
  /** For the value of the variable. */
  readonly hint?: string
}

/** `true` and `false` are short for the member `enabled`, which is `true` if any other member is given. */
export function switchable<const M extends Members & { readonly enabled: Row<boolean> }>(
  members: M,
  { words = {}, hint = '' }: SwitchWords = {},
): Kind<boolean | MembersOf<M>> {
  return {
    members,
    rule: `true, false or an object with ${Object.keys(members).join(', ')} (in a variable: JSON${hint})`,
    read: (value) =>
      typeof value === 'boolean'
        ? ({ enabled: value } as unknown as MembersOf<M>)
        : isPlainObject(value)
          ? (value as MembersOf<M>)
          : undefined,
    parse: (text) => {
      if (Object.hasOwn(words, text)) return words[text]
      const read = flag.parse(text)
      return typeof read === 'boolean' ? read : parseJson(text)
    },
  }
}

/** Variables of an option or a member, which `path` names. */
export function findVariables({ variables }: Row<unknown>, path: string): readonly string[] {
  return variables ?? [`PINO_INGEST_${path.replaceAll('.', '_').replace(/[A-Z]/g, '_$&').toUpperCase()}`]
}
