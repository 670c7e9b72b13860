/** Finds settings of existing streams and consumers that delivery cannot work with. Limits above the required ones are accepted. Pure. */
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream'
import { matchesSubject } from './stream-check.js'
import { PULL_EXPIRES_MS } from './streams.js'
import type { StreamSettings } from './streams.js'

export interface Difference {
  /** Name used by the NATS server, such as `duplicate_window`. */
  readonly setting: string
  readonly is: string
  readonly shouldBe: string
  /** A command of the NATS CLI, or another instruction. */
  readonly fix: string
}

export type StreamRole = 'queue' | 'dead' | 'bucket'

/** Sizes are compared only if the user named them. */
export type NamedSize = 'num_replicas' | 'max_bytes'

const SECOND_NS = 1_000_000_000
const UNLIMITED = -1
/** Concurrent pull requests of all forwarders. This is the server's default. */
const MIN_WAITING = 512

/** @param named sizes that are compared */
export function findStreamDifferences(
  role: StreamRole,
  actual: StreamConfig,
  wanted: StreamSettings,
  named: ReadonlySet<NamedSize>,
): Difference[] {
  const { name } = actual
  const edit = (flags: string): string => `nats stream edit ${name} ${flags}`
  const recreate =
    role === 'queue'
      ? `cannot be changed; when the stream is empty: nats stream rm ${name}, then pino-ingest forward init. Or set PINO_INGEST_NATS_STREAM to another stream`
      : `cannot be changed: nats stream rm ${name} (deletes its content), then pino-ingest forward init`
  const found: (Difference | false)[] = [
    !wanted.subjects.every((subject) => actual.subjects.some((one) => matchesSubject(one, subject))) && {
      setting: 'subjects',
      is: actual.subjects.join(', '),
      shouldBe: wanted.subjects.join(', '),
      fix: `if PINO_INGEST_NATS_SUBJECT is wrong, fix it; otherwise: ${edit(`--subjects '${wanted.subjects.join(',')}'`)}`,
    },
    actual.retention !== wanted.retention && {
      setting: 'retention',
      is: actual.retention,
      shouldBe: wanted.retention,
      fix: recreate,
    },
    actual.storage !== wanted.storage && {
      setting: 'storage',
      is: actual.storage,
      shouldBe: wanted.storage,
      fix: recreate,
    },
    actual.discard !== wanted.discard && {
      setting: 'discard',
      is: actual.discard,
      shouldBe: wanted.discard,
      fix: edit(`--discard ${wanted.discard}`),
    },
    named.has('num_replicas') &&
      actual.num_replicas < wanted.num_replicas && {
        setting: 'num_replicas',
        is: String(actual.num_replicas),
        shouldBe: String(wanted.num_replicas),
        fix: edit(`--replicas ${wanted.num_replicas}`),
      },
    // Without a limit the stream can fill the disk, which stops every stream of the server.
    (actual.max_bytes <= 0 || (named.has('max_bytes') && actual.max_bytes < wanted.max_bytes)) && {
      setting: 'max_bytes',
      is: formatLimit(actual.max_bytes),
      shouldBe: String(wanted.max_bytes),
      fix: edit(`--max-bytes ${wanted.max_bytes}`),
    },
    wanted.duplicate_window !== undefined &&
      actual.duplicate_window < wanted.duplicate_window && {
        setting: 'duplicate_window',
        is: formatSeconds(actual.duplicate_window),
        shouldBe: formatSeconds(wanted.duplicate_window),
        fix: edit(`--dupe-window ${formatSeconds(wanted.duplicate_window)}`),
      },
    isAgeTooShort(role, actual, wanted) && {
      setting: 'max_age',
      is: formatSeconds(actual.max_age),
      shouldBe: wanted.max_age === undefined ? 'unlimited' : formatSeconds(wanted.max_age),
      fix: edit(`--max-age ${formatSeconds(wanted.max_age ?? 0)}`),
    },
    ...(role === 'dead'
      ? []
      : [
          actual.max_msgs > 0 && {
            setting: 'max_msgs',
            is: String(actual.max_msgs),
            shouldBe: 'unlimited',
            fix: edit(`--max-msgs ${UNLIMITED}`),
          },
        ]),
    role === 'queue' &&
      actual.max_msgs_per_subject > 0 && {
        setting: 'max_msgs_per_subject',
        is: String(actual.max_msgs_per_subject),
        shouldBe: 'unlimited',
        fix: edit(`--max-msgs-per-subject ${UNLIMITED}`),
      },
    actual.max_msg_size > 0 && {
      setting: 'max_msg_size',
      is: String(actual.max_msg_size),
      shouldBe: 'unlimited',
      fix: edit(`--max-msg-size ${UNLIMITED}`),
    },
    // Without acknowledgements every publish times out.
    actual.no_ack === true && { setting: 'no_ack', is: 'true', shouldBe: 'false', fix: edit('--ack') },
    role === 'queue' &&
      !actual.deny_purge && { setting: 'deny_purge', is: 'false', shouldBe: 'true', fix: edit('--deny-purge') },
    // Forwarders delete republished messages, and `forward dead replay` deletes replayed dead letters.
    role !== 'bucket' && actual.deny_delete && { setting: 'deny_delete', is: 'true', shouldBe: 'false', fix: recreate },
  ]
  return found.filter((one) => one !== false)
}

/** Queued batches must not expire. The retention of dead letters is the operator's choice. */
function isAgeTooShort(role: StreamRole, { max_age: age }: StreamConfig, wanted: StreamSettings): boolean {
  if (role === 'dead' || age === 0) return false
  return wanted.max_age === undefined || age < wanted.max_age
}

export function findConsumerDifferences(
  stream: string,
  actual: ConsumerConfig,
  wanted: Partial<ConsumerConfig>,
): Difference[] {
  const name = wanted.durable_name ?? ''
  const edit = (flags: string): string => `nats consumer edit ${stream} ${name} ${flags}`
  // Deleting a consumer keeps the batches in the stream; batches in flight are redelivered.
  const recreate = `cannot be changed: nats consumer rm ${stream} ${name}, then pino-ingest forward init`
  const { ack_wait: wantedWait = 0, max_ack_pending: wantedPending = 0 } = wanted
  const different = (
    setting: keyof ConsumerConfig,
    isWrong: boolean,
    is: string,
    shouldBe: string,
    fix: string,
  ): Difference[] => (isWrong ? [{ setting, is, shouldBe, fix }] : [])
  return [
    ...different(
      'filter_subject',
      actual.filter_subject !== wanted.filter_subject,
      actual.filter_subject ?? 'all',
      wanted.filter_subject ?? 'all',
      recreate,
    ),
    ...different(
      'ack_policy',
      actual.ack_policy !== wanted.ack_policy,
      actual.ack_policy,
      String(wanted.ack_policy),
      recreate,
    ),
    ...different(
      'deliver_policy',
      actual.deliver_policy !== wanted.deliver_policy,
      actual.deliver_policy,
      String(wanted.deliver_policy),
      recreate,
    ),
    ...different(
      'deliver_subject',
      (actual.deliver_subject ?? '') !== '',
      String(actual.deliver_subject),
      'none (a pull consumer)',
      recreate,
    ),
    // A shorter `ack_wait` expires while a forwarder still holds the batch, which is then sent twice.
    ...different(
      'ack_wait',
      (actual.ack_wait ?? 0) < wantedWait,
      formatSeconds(actual.ack_wait ?? 0),
      formatSeconds(wantedWait),
      edit(`--wait ${formatSeconds(wantedWait)}`),
    ),
    ...different(
      'backoff',
      (actual.backoff ?? []).length > 0,
      (actual.backoff ?? []).map(formatSeconds).join(', '),
      'none',
      recreate,
    ),
    // After the last allowed delivery JetStream keeps the batch but never delivers it again.
    ...different(
      'max_deliver',
      (actual.max_deliver ?? UNLIMITED) > 0,
      String(actual.max_deliver),
      'unlimited',
      edit(`--max-deliver ${UNLIMITED}`),
    ),
    ...different(
      'max_ack_pending',
      (actual.max_ack_pending ?? 0) >= 0 && (actual.max_ack_pending ?? 0) < wantedPending,
      String(actual.max_ack_pending),
      String(wantedPending),
      edit(`--max-pending ${wantedPending}`),
    ),
    // A shorter `max_expires` rejects the forwarders' pull requests; a lower `max_waiting` rejects some of them.
    ...different(
      'max_expires',
      (actual.max_expires ?? 0) > 0 && (actual.max_expires ?? 0) < PULL_EXPIRES_MS * 1_000_000,
      formatSeconds(actual.max_expires ?? 0),
      'unlimited',
      edit('--max-pull-expire 0s'),
    ),
    ...different(
      'max_waiting',
      (actual.max_waiting ?? 0) > 0 && (actual.max_waiting ?? 0) < MIN_WAITING,
      String(actual.max_waiting),
      String(MIN_WAITING),
      recreate,
    ),
    ...different(
      'replay_policy',
      (actual.replay_policy ?? 'instant') !== 'instant',
      actual.replay_policy,
      'instant',
      recreate,
    ),
    ...different('headers_only', actual.headers_only === true, 'true', 'false', edit('--no-headers-only')),
    ...different('mem_storage', actual.mem_storage === true, 'true', 'false', recreate),
    ...different(
      'inactive_threshold',
      (actual.inactive_threshold ?? 0) > 0,
      formatSeconds(actual.inactive_threshold ?? 0),
      'none',
      recreate,
    ),
  ]
}

function formatLimit(limit: number): string {
  return limit <= 0 ? 'unlimited' : String(limit)
}

/** A duration in the format of the NATS CLI. */
function formatSeconds(ns: number): string {
  return `${Number((ns / SECOND_NS).toFixed(3))}s`
}
