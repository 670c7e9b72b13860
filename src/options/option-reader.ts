/** Reads one option after the other from code and environment, groups member by member. */
import { describeThrown } from '../shared/argument-checks.js'
import { describeReadError } from '../shared/safe-files.js'
import { describeHidden, formatName, formatValue } from './format-value.js'
import { isPlainObject } from './kinds.js'
import type { Members, Row } from './kinds.js'
import { findNearestName } from '../shared/nearest-name.js'
import { findVariables } from './option-group.js'

export interface ReaderSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** For the variables that name files. */
  readonly readFile: (path: string) => string
}

/** A value, and its name in messages: the path of an option or a variable. */
interface Given {
  readonly place: string
  readonly value: unknown
}

interface Places {
  /** Wins over the environment. */
  readonly inCode?: Given | undefined
  /** Members of groups that variables set as JSON. The option's own variables win over them. */
  readonly inJson?: readonly Given[]
}

const ROOTED_PATH = /^(?:[/~.]|[a-z]:[\\/])/i

export class OptionReader {
  readonly #sources: ReaderSources
  readonly #problems: string[]

  /** @param problems receives what is wrong, with place, rule and value (a secret's never) */
  constructor(sources: ReaderSources, problems: string[]) {
    this.#sources = sources
    this.#problems = problems
  }

  /** @returns undefined if nothing is given, or it is wrong. A group has only the members that are given. */
  read(row: Row<unknown>, path: string, places: Places): unknown {
    const { members } = row.kind
    const { inCode, inJson = [] } = places
    try {
      if (members !== undefined) return this.#readGroup(row, members, path, places)
      const given = inCode ?? this.#fromVariables(row, path) ?? inJson[0]
      return given && this.check(row, given.place, given.value)
    } catch (error) {
      this.#problems.push(`${path} cannot be read: ${describeThrown(error)}`) // a getter of the application throws
      return undefined
    }
  }

  /** @returns undefined if the value breaks the rule */
  check(row: Row<unknown>, place: string, value: unknown): unknown {
    const { kind, secret } = row
    const read = kind.read(value)
    if (read !== undefined) return read
    const problem = kind.problem?.(value)
    this.#problems.push(
      problem === undefined
        ? `${place} must be ${kind.rule}, got ${secret === true ? describeHidden(value) : formatValue(value)}`
        : `${place}: ${problem}`,
    )
    return undefined
  }

  #readGroup(row: Row<unknown>, members: Members, path: string, { inCode, inJson = [] }: Places): unknown {
    const toObject = (given: Given | undefined): Given[] => {
      if (given === undefined) return []
      const value = this.check(row, given.place, given.value)
      if (!isPlainObject(value)) return []
      this.#reportUnknown(Object.keys(value), members, given.place)
      return [{ place: given.place, value }]
    }
    const [code] = toObject(inCode)
    const jsons = [this.#fromVariables(row, path), ...inJson].flatMap(toObject)
    const found = Object.entries(members).map(([name, member]) => {
      const places = { inCode: code && memberOf(code, name), inJson: jsons.flatMap((one) => memberOf(one, name) ?? []) }
      return [name, this.read(member, `${path}.${name}`, places)] as const
    })
    const given = Object.fromEntries(found.filter(([, value]) => value !== undefined))
    if (code === undefined && jsons.length === 0 && Object.keys(given).length === 0) return undefined
    if (!Object.hasOwn(members, 'enabled')) return given
    // Members in code turn the group on, whatever a variable says.
    const isOn = code !== undefined && memberOf(code, 'enabled') === undefined
    return { enabled: true, ...given, ...(isOn && { enabled: true }) }
  }

  #reportUnknown(names: readonly string[], members: Members, place: string): void {
    const known = Object.keys(members)
    for (const name of names.filter((one) => !known.includes(one))) {
      const nearest = findNearestName(name, known)
      const advice = nearest === undefined ? `only ${known.join(', ')}` : `did you mean ${nearest}?`
      this.#problems.push(`${place} has no ${formatName(name)}, ${advice}`)
    }
  }

  #fromVariables(row: Row<unknown>, path: string): Given | undefined {
    const places = findVariables(row, path).filter((place) => (this.#sources.env[place] ?? '') !== '')
    const [first, file] = places.map((place) => this.#fromVariable(row, place))
    // Only a key has a variable and a file; a mistake here would send with the wrong one.
    if (row.secret === true && first !== undefined && file !== undefined && first.value !== file.value)
      this.#problems.push(`${first.place} and ${file.place} are both set and differ (not shown); unset one of them`)
    return first
  }

  #fromVariable(row: Row<unknown>, place: string): Given | undefined {
    const text = this.#sources.env[place] ?? ''
    const value = place.endsWith('_FILE') ? this.#readFile(row, place, text) : text
    return value === undefined ? undefined : { place, value: row.kind.parse(value) }
  }

  #readFile({ isFile }: Row<unknown>, variable: string, path: string): string | undefined {
    try {
      return this.#sources.readFile(path)
    } catch (error) {
      // The path may be the key itself, by mistake.
      const shown = isFile !== true && !ROOTED_PATH.test(path) ? describeHidden(path) : path
      this.#problems.push(`cannot read the file in ${variable}: ${shown} (${describeReadError(error)})`)
      return undefined
    }
  }
}

/** Own properties only: `Object.prototype` may have been extended. */
function memberOf({ place, value }: Given, name: string): Given | undefined {
  const members = value as Readonly<Record<string, unknown>>
  return Object.hasOwn(members, name) && members[name] !== undefined
    ? { place: `${place}.${name}`, value: members[name] }
    : undefined
}

/** Adds the defaults of an option, or of a group's members. @returns undefined if there is no value at all */
export function addDefaults(row: Row<unknown>, value: unknown): unknown {
  const { members } = row.kind
  if (members === undefined) return value ?? row.default
  const completed = Object.entries(members)
    .map(
      ([name, member]) => [name, addDefaults(member, (value as Record<string, unknown> | undefined)?.[name])] as const,
    )
    .filter(([, one]) => one !== undefined)
  return completed.length === 0 && value === undefined ? undefined : Object.fromEntries(completed)
}
