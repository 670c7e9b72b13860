/** Finds settings of existing streams and consumers with which delivery loses or repeats entries, or does not work. Pure. */
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream'
import { matchesSubject } from './stream-check.js'

export interface Problem {
  readonly problem: string
  /** A command, or another instruction. */
  readonly fix: string
}

type Config = Partial<StreamConfig & ConsumerConfig>

interface Comparison {
  readonly suffices: (actual: unknown, wanted: unknown) => boolean
  /** As an argument of the NATS CLI. */
  readonly format: (value: unknown) => string
}

/** The server leaves out false. */
const choice: Comparison = { suffices: (actual = false, wanted) => actual === wanted, format: String }
/** A larger number suffices. */
const limit: Comparison = {
  suffices: (actual, wanted) => isUnlimited(actual) || (!isUnlimited(wanted) && Number(actual) >= Number(wanted)),
  format: String,
}
/** In nanoseconds. */
const duration: Comparison = { ...limit, format: (ns) => `${Number((Number(ns) / 1e9).toFixed(3))}s` }
const subjects: Comparison = {
  suffices: (actual, wanted) =>
    toList(wanted).every((subject) => toList(actual).some((pattern) => matchesSubject(pattern, subject))),
  format: (value) => `'${toList(value).join(',')}'`,
}

/** The flag of the NATS CLI changes the setting. Settings without one cannot be changed. */
const ROWS: readonly (readonly [setting: keyof Config, comparison: Comparison, flag?: string])[] = [
  ['subjects', subjects, '--subjects'],
  ['retention', choice],
  ['storage', choice],
  ['discard', choice, '--discard'],
  ['num_replicas', limit, '--replicas'],
  ['max_bytes', limit, '--max-bytes'],
  ['duplicate_window', duration, '--dupe-window'],
  ['max_age', duration, '--max-age'],
  ['max_msgs_per_subject', limit, '--max-msgs-per-subject'],
  // Without acknowledgements every publish times out.
  ['no_ack', choice, '--ack'],
  ['deny_delete', choice],
  ['filter_subject', choice],
  // A shorter one expires while a forwarder still holds the batch, which is then sent twice.
  ['ack_wait', duration, '--wait'],
  // After the last allowed delivery JetStream keeps the batch but never delivers it again.
  ['max_deliver', limit, '--max-deliver'],
  ['max_ack_pending', limit, '--max-pending'],
  ['headers_only', choice, '--no-headers-only'],
]

/**
 * Compares the settings in `wanted`. Other settings are the operator's choice.
 * @param toCommand returns the command of the NATS CLI that does it to this stream or consumer
 */
export function findDifferences(actual: Config, wanted: Config, toCommand: (verb: 'edit' | 'rm') => string): Problem[] {
  return ROWS.filter(
    ([setting, { suffices }]) => wanted[setting] !== undefined && !suffices(actual[setting], wanted[setting]),
  ).map(([setting, { format }, flag]) => {
    const show = (value: unknown): string => (isUnlimited(value) ? 'unlimited' : format(value))
    const argument = wanted[setting] === false ? '' : ` ${format(wanted[setting])}`
    return {
      problem: `${setting} is ${show(actual[setting])}, should be ${show(wanted[setting])}`,
      fix:
        flag === undefined
          ? `cannot be changed: when the stream is empty, ${toCommand('rm')}, then pino-ingest forward init`
          : `${toCommand('edit')} ${flag}${argument}`,
    }
  })
}

/** The server leaves out zero. */
function isUnlimited(value: unknown): boolean {
  return typeof value === 'number' ? value <= 0 : value === undefined
}

function toList(value: unknown): readonly string[] {
  return value as readonly string[]
}
