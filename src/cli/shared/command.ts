/** The interface between a command and the dispatcher. */

export interface Flag {
  /** One letter. */
  readonly short?: string
  /** Placeholder of its value in the help. Without it the flag is a switch. */
  readonly value?: string
  readonly meaning: string
}

export type Flags = Readonly<Record<string, Flag>>

/** A parsed command line. */
export interface Arguments {
  readonly switches: ReadonlySet<string>
  readonly texts: ReadonlyMap<string, string>
  readonly positionals: readonly string[]
  /** A program and its arguments, after `--`. Only for a command that `takesProgram`. */
  readonly program?: readonly string[]
}

export type Example = readonly [line: string, meaning: string]

export interface Command {
  /** One to three, the most common first. */
  readonly examples: readonly Example[]
  /** Default: the command with `[FLAGS]`. */
  readonly usage?: readonly string[]
  readonly flags?: Flags
  readonly notes?: readonly string[]
  /** Default 0. */
  readonly maxPositionals?: number
  readonly takesProgram?: true
  /** What to do about an argument that the command does not take. */
  readonly argumentAdvice?: string
  /** What to do about flags that the command does not have, but that a user may try. */
  readonly flagAdvice?: ReadonlyMap<string, string>
  /** @returns the exit code */
  run(given: Arguments): Promise<number>
  /** Called after a failure was printed, also one of the arguments. @param args as given, before `--` */
  afterFailure?(args: readonly string[]): Promise<void>
}

/** Ends a command with a message for its user. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: string
  readonly exitCode: number
  /** Printable lines below the message. Not shown with `--json`. */
  readonly details: readonly string[]

  constructor(code: string, message: string, exitCode: number, details: readonly string[] = []) {
    super(message)
    this.code = code
    this.exitCode = exitCode
    this.details = details
  }
}

export const EXIT_DONE = 0
export const EXIT_FAILED = 1
export const EXIT_USAGE = 2

export function createUsageError(message: string, details: readonly string[] = []): CommandError {
  return new CommandError('USAGE', message, EXIT_USAGE, details)
}
