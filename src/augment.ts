/**
 * Opt-in types: after `import 'pino-ingest/augment'`, once in a program, pino's log calls check the types of the entry's fields.
 *
 * Opt-in because the types apply to the whole program: a field with one of these names and another type becomes a compile error.
 * Requires pino 9.9 or later, which reads fields from `LogFnFields`.
 */
import type {} from 'pino'
import type { Breadcrumb, EntryDeploy, EntryPerf, EntryTrace, EntryUser, LogEntry } from './protocol/log-entry.js'

/**
 * No value has this type. It is one of a field's types, so that the compiler's message quotes the rule: pino's types would otherwise reduce the
 * field of a wrong value to `never`.
 */
interface Refused<Rule extends string> {
  // No symbol: a program may load the types of both builds, and their symbols would differ.
  readonly 'refused by pino-ingest': Rule
}

// Unions without a name: the compiler would print the name in place of the rule. Null means that there is no value. Mapped from the entry's
// fields, so that an editor shows their comments.
type Ids<Fields, Path extends string = ''> = {
  readonly [Member in keyof Fields]?:
    | string
    | number
    | Refused<`${Path}${Member & string} must be text or a number`>
    | null
    | undefined
}
type Texts<Fields, Path extends string = ''> = {
  readonly [Member in keyof Fields]?: string | Refused<`${Path}${Member & string} must be text`> | null | undefined
}
type Numbers<Fields, Path extends string> = {
  readonly [Member in keyof Fields]?: number | Refused<`${Path}${Member & string} must be a number`> | null | undefined
}

/** Text and lists are iterable; without this member they would have the types below, whose members are all optional. */
interface NotIterable<Rule extends string> {
  readonly [Symbol.iterator]?: Refused<Rule>
}

interface LoggedUser<Rule extends string = 'user must be an object'>
  extends Ids<Pick<EntryUser, 'id'>, 'user.'>, Texts<Pick<EntryUser, 'email' | 'name'>, 'user.'>, NotIterable<Rule> {}
interface LoggedPerf<Rule extends string = 'perf must be an object'>
  extends Numbers<EntryPerf, 'perf.'>, NotIterable<Rule> {}
interface LoggedTrace<Rule extends string = 'trace must be an object'>
  extends Texts<EntryTrace, 'trace.'>, NotIterable<Rule> {}
interface LoggedDeploy<Rule extends string = 'deploy must be an object'>
  extends Texts<EntryDeploy, 'deploy.'>, NotIterable<Rule> {}
interface LoggedBreadcrumb<Rule extends string = 'each of breadcrumbs must be an object'>
  extends Texts<Omit<Breadcrumb, 'timestamp' | 'data'>, 'breadcrumbs[].'>, NotIterable<Rule> {
  /** ISO 8601, or milliseconds since the epoch. */
  readonly timestamp?: string | number | Date | Refused<'breadcrumbs[].timestamp must be a time'> | null | undefined
  /** Other values. */
  readonly data?: object | Refused<'breadcrumbs[].data must be an object'> | null | undefined
}

/** The entry's fields that a record may have. Without `error` and `request`, which pino serializes itself. */
export interface IngestLogFields
  extends
    Ids<Pick<LogEntry, 'user_id' | 'session_id' | 'request_id' | 'release_id'>>,
    Texts<Pick<LogEntry, 'action' | 'fingerprint' | 'source'> & EntryTrace> {
  /** As returned by `newEventId()`; on the entry it is `metadata.event_id`. */
  readonly event_id?: string | Refused<'event_id must be text'> | null | undefined
  /** Route pattern of the request, for request analytics: `/orders/:id`. */
  readonly route?: string | Refused<'route must be text, the pattern of a path'> | null | undefined
  /** The user: `id`, `email` and `name`. */
  readonly user?: LoggedUser | null | undefined
  /** Measurements. */
  readonly perf?: LoggedPerf | null | undefined
  /** Ids of the trace. */
  readonly trace?: LoggedTrace | null | undefined
  /** The deployment. Default: the option `deploy`. */
  readonly deploy?: LoggedDeploy | null | undefined
  /** Free-form fields. Fields of a record without another meaning are added to it. */
  readonly metadata?: object | Refused<'metadata must be an object'> | null | undefined
  /** Tags, in addition to the option `tags`. */
  readonly tags?: readonly string[] | Refused<'tags must be a list of texts'> | null | undefined
  /** Events before this one, merged with those of the transport by time. */
  readonly breadcrumbs?:
    | readonly LoggedBreadcrumb[]
    | Refused<'breadcrumbs must be a list of { type, category, message, level: text, timestamp, data: object }'>
    | null
    | undefined
  /** Requests a notification. */
  readonly notify?: boolean | Refused<'notify must be true or false'> | null | undefined
  /** Channels to notify. */
  readonly notify_channels?: readonly string[] | Refused<'notify_channels must be a list of texts'> | null | undefined
}

declare module 'pino' {
  interface LogFnFields extends IngestLogFields {}
}
