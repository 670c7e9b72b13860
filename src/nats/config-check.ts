/** Finds settings of existing streams and consumers with which delivery loses or repeats entries, or does not work. Pure. */
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream'
import { matchesSubject } from './stream-check.js'

export interface Problem {
  readonly problem: string
  /** A command, or another instruction. */
  readonly fix: string
}

type Config = Partial<StreamConfig & ConsumerConfig>

/** The flag of the NATS CLI changes the setting. Settings without one cannot be changed. */
const ROWS: readonly (readonly [setting: keyof Config, flag?: string])[] = [
  ['subjects', '--subjects'],
  ['retention'],
  ['storage'],
  ['discard', '--discard'],
  ['num_replicas', '--replicas'],
  ['max_bytes', '--max-bytes'],
  ['duplicate_window', '--dupe-window'],
  ['max_age', '--max-age'],
  ['max_msgs_per_subject', '--max-msgs-per-subject'],
  // Without acknowledgements every publish times out.
  ['no_ack', '--ack'],
  ['deny_delete'],
  ['filter_subject'],
  // A shorter one expires while a forwarder still holds the batch, which is then sent twice.
  ['ack_wait', '--wait'],
  // After the last allowed delivery JetStream keeps the batch but never delivers it again.
  ['max_deliver', '--max-deliver'],
  ['max_ack_pending', '--max-pending'],
  ['headers_only', '--no-headers-only'],
]

/** In nanoseconds. */
const DURATIONS: readonly (keyof Config)[] = ['duplicate_window', 'max_age', 'ack_wait']

/**
 * Compares the settings in `wanted`. Other settings are the operator's choice.
 * @param toCommand returns the command of the NATS CLI that does it to this stream or consumer
 */
export function findDifferences(actual: Config, wanted: Config, toCommand: (verb: 'edit' | 'rm') => string): Problem[] {
  return ROWS.filter(([setting]) => wanted[setting] !== undefined && !suffices(actual[setting], wanted[setting])).map(
    ([setting, flag]) => {
      const show = (value: unknown): string => (isUnlimited(value) ? 'unlimited' : format(setting, value))
      const argument = wanted[setting] === false ? '' : ` ${format(setting, wanted[setting])}`
      return {
        problem: `${setting} is ${show(actual[setting])}, should be ${show(wanted[setting])}`,
        fix:
          flag === undefined
            ? `cannot be changed: when the stream is empty, ${toCommand('rm')}, then pino-ingest forward init`
            : `${toCommand('edit')} ${flag}${argument}`,
      }
    },
  )
}

/** Whether a number is large enough, all subjects are included, or any other setting is the same. */
function suffices(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted === 'number') return isUnlimited(actual) || (!isUnlimited(wanted) && Number(actual) >= wanted)
  if (Array.isArray(wanted)) {
    const patterns = actual as readonly string[]
    return wanted.every((subject: string) => patterns.some((pattern) => matchesSubject(pattern, subject)))
  }
  // The server leaves out false.
  return (actual ?? false) === wanted
}

/** As an argument of the NATS CLI. */
function format(setting: keyof Config, value: unknown): string {
  if (Array.isArray(value)) return `'${value.join(',')}'`
  return DURATIONS.includes(setting) ? `${Number((Number(value) / 1e9).toFixed(3))}s` : String(value)
}

/** The server leaves out zero. */
function isUnlimited(value: unknown): boolean {
  return typeof value === 'number' ? value <= 0 : value === undefined
}
