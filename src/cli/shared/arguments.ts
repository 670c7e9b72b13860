/** Parses the arguments of a command. Pure. */
import { parseArgs } from 'node:util'
import { findEquivalentOptions } from '../../options/equivalent-options.js'
import { findNearestName } from '../../shared/nearest-name.js'
import { createUsageError } from './command.js'
import type { Arguments, Command, Flags } from './command.js'

export const COMMON_FLAGS: Flags = {
  json: { meaning: 'machine-readable output; errors go to stderr, as JSON' },
  debug: { meaning: 'also writes each step to stderr' },
  help: { short: 'h', meaning: 'shows this help' },
}

type Shape = Pick<Command, 'flags' | 'maxPositionals' | 'argumentAdvice' | 'flagAdvice' | 'takesProgram'>

/** @throws CommandError for a flag that is unknown, lacks its value or takes none, and for too many positionals */
export function parseArguments(args: readonly string[], shape: Shape): Arguments {
  const { flags = {}, maxPositionals = 0, argumentAdvice, takesProgram = false } = shape
  const end = takesProgram ? args.indexOf('--') : -1
  const own = end === -1 ? args : args.slice(0, end)
  const program = end === -1 ? undefined : args.slice(end + 1)
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { short, value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short !== undefined && { short }) },
    ]),
  )
  // Not strict, since the messages of strict mode do not suggest similar names.
  const { tokens } = parseArgs({ args: [...own], options, strict: false, tokens: true })
  const switches = new Set<string>()
  const texts = new Map<string, string>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      positionals.push(token.value)
      continue
    }
    const { name, rawName, value, inlineValue } = token
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (flag === undefined) throw createUnknownFlagError(rawName, Object.keys(flags), shape)
    if (flag.value === undefined) {
      if (value !== undefined) throw createUsageError(`${rawName} takes no value`)
      switches.add(name)
    } else {
      // In `--port --quiet` the value is missing. `-` means stdin, and `- fixed` can be an item of a changelog.
      if (value === undefined || (inlineValue === false && /^-\S/.test(value))) {
        // The value is not shown: it can be a secret.
        const hint =
          value === undefined || value.startsWith('--') ? '' : `, or --${name}=${flag.value} if it begins with "-"`
        throw createUsageError(`${rawName} needs a value: --${name} ${flag.value}${hint}`)
      }
      if (value.trim() === '') throw createUsageError(`${rawName} is empty: --${name} ${flag.value}`)
      texts.set(name, value)
    }
  }
  const isHelp = switches.has('help')
  const unexpected = positionals[maxPositionals]
  if (unexpected !== undefined && !isHelp) {
    const advice = argumentAdvice ?? (takesProgram ? 'put the program after --, as in: -- node app.js' : undefined)
    // An argument before `--` may be a token typed by mistake.
    const shown = takesProgram ? '(not shown)' : unexpected
    throw createUsageError(`unexpected argument ${shown}${advice === undefined ? '' : `; ${advice}`}`)
  }
  if (program !== undefined && (program[0] ?? '') === '' && !isHelp)
    throw createUsageError('there is no program after --')
  return { switches, texts, positionals, ...(program !== undefined && { program }) }
}

/**
 * @param needed the message if neither an ID nor `--all` is given
 * @param flag another flag that selects
 * @returns undefined for all @throws CommandError
 */
export function readId(
  { switches, texts, positionals: [id] }: Arguments,
  needed: string,
  flag = '',
): string | undefined {
  const isAll = switches.has('all')
  if (id !== undefined && isAll) throw createUsageError(`give either ${id} or --all`)
  if (id === undefined && !isAll && !texts.has(flag)) throw createUsageError(needed)
  return id
}

function createUnknownFlagError(rawName: string, known: readonly string[], shape: Shape): Error {
  if (/^--(?:api[-_]?)?key(?:[-_]?file)?$/i.test(rawName)) {
    return createUsageError(
      `there is no flag ${rawName}, since process lists show arguments; set PINO_INGEST_API_KEY or PINO_INGEST_API_KEY_FILE`,
    )
  }
  const nearest = rawName.startsWith('--')
    ? (findEquivalentOptions(rawName.slice(2)).find((name) => known.includes(name)) ??
      findNearestName(rawName.slice(2), known))
    : undefined
  const similar = nearest === undefined ? '' : `, did you mean --${nearest}?`
  const quoting = (shape.maxPositionals ?? 0) > 0 ? ', put -- before an argument that begins with "-"' : ''
  const advice = shape.flagAdvice?.get(rawName.slice(2))
  return createUsageError(`unknown flag ${rawName}${advice === undefined ? similar || quoting : `, ${advice}`}`)
}
