/** Arguments against a command's flags. Pure. */
import { parseArgs } from 'node:util'
import { findNearestName } from '../../options/nearest-name.js'
import { createUsageError } from './command.js'
import type { Arguments, Flags } from './command.js'

/** Every command has them. */
export const COMMON_FLAGS: Flags = {
  json: { meaning: 'machine-readable output' },
  help: { short: 'h', meaning: 'shows this' },
}

/** What stands on a command line. */
interface ParsedArguments extends Arguments {
  /** What is no flag and no flag's value, before and behind the flags. */
  readonly positionals: readonly string[]
}

/**
 * @param areWordsSecret an unknown flag is not shown: it may be a word that begins with a hyphen
 * @throws CommandError for a flag that is unknown, lacks its value or takes none.
 */
export function parsePositionals(args: readonly string[], flags: Flags, areWordsSecret = false): ParsedArguments {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { short, value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short !== undefined && { short }) },
    ]),
  )
  // Not strict: its messages know no nearest name.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const switches = new Set<string>()
  const texts = new Map<string, string>()
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      words.push(token.value)
      continue
    }
    const { name, rawName, value, inlineValue } = token
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (flag === undefined)
      throw areWordsSecret
        ? createHiddenFlagError(Object.keys(flags))
        : createUnknownFlagError(rawName, Object.keys(flags))
    if (flag.value === undefined) {
      if (value !== undefined) throw createUsageError(`${rawName} takes no value`)
      switches.add(name)
    } else {
      // `--port --quiet`: the value was forgotten. `-` is stdin, and `- fixed` an item of a changelog.
      if (value === undefined || (inlineValue === false && /^-\S/.test(value))) {
        throw createUsageError(`${rawName} needs a value: --${name} ${flag.value}`)
      }
      texts.set(name, value)
    }
  }
  return { switches, texts, positionals: words }
}

/** @throws CommandError as `parseWords`, and for anything that is no flag. */
export function parseArguments(args: readonly string[], flags: Flags): Arguments {
  const {
    positionals: [unexpected],
    switches,
    texts,
  } = parsePositionals(args, flags)
  if (unexpected !== undefined)
    throw createUsageError(`unexpected argument ${unexpected}; a command comes first, before all flags`)
  return { switches, texts }
}

function createHiddenFlagError(known: readonly string[]): Error {
  return createUsageError(
    `unknown flag (not shown, it may be the token: one that begins with - comes from its variable); known are ${known.map((name) => `--${name}`).join(', ')}`,
  )
}

function createUnknownFlagError(rawName: string, known: readonly string[]): Error {
  if (/^--api[-_]?key(?:[-_]?file)?$/i.test(rawName)) {
    return createUsageError(
      `there is no flag ${rawName}, since process lists show arguments; set PINO_INGEST_API_KEY or PINO_INGEST_API_KEY_FILE`,
    )
  }
  const nearest = rawName.startsWith('--') ? findNearestName(rawName.slice(2), known) : undefined
  return createUsageError(`unknown flag ${rawName}${nearest === undefined ? '' : `, did you mean --${nearest}?`}`)
}
