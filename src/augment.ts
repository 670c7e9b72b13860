/**
 * Opt-in types: after `import 'pino-ingest/augment'`, once in a program, pino's log calls check the types of the entry's fields.
 *
 * Opt-in because the types apply to the whole program: a field with one of these names and another type becomes a compile error.
 * Requires pino 9.9 or later, which reads fields from `LogFnFields`.
 */
import type {} from 'pino'
import type { Breadcrumb, EntryDeploy, EntryPerf, EntryTrace } from './protocol/log-entry.js'

/**
 * No value has this type. It is one of a field's types, so that the compiler's message quotes the rule: pino's types would otherwise reduce the
 * field of a wrong value to `never`.
 */
interface Refused<Rule extends string> {
  // No symbol: a program may load the types of both builds, and their symbols would differ.
  readonly 'refused by pino-ingest': Rule
}

// Unions without a name: the compiler would print the name in place of the rule. Null means that there is no value.
type Ids<Name extends string, Path extends string = ''> = {
  readonly [Member in Name]?: string | number | Refused<`${Path}${Member} must be text or a number`> | null | undefined
}
type Texts<Name extends string, Path extends string = ''> = {
  readonly [Member in Name]?: string | Refused<`${Path}${Member} must be text`> | null | undefined
}
type Numbers<Name extends string, Path extends string> = {
  readonly [Member in Name]?: number | Refused<`${Path}${Member} must be a number`> | null | undefined
}

/** Text and lists are iterable; without this member they would have the types below, whose members are all optional. */
interface NotIterable<Rule extends string> {
  readonly [Symbol.iterator]?: Refused<Rule>
}

interface LoggedUser<Rule extends string = 'user must be an object'>
  extends Ids<'id', 'user.'>, Texts<'email' | 'name', 'user.'>, NotIterable<Rule> {}
interface LoggedPerf<Rule extends string = 'perf must be an object'>
  extends Numbers<keyof EntryPerf, 'perf.'>, NotIterable<Rule> {}
interface LoggedTrace<Rule extends string = 'trace must be an object'>
  extends Texts<keyof EntryTrace, 'trace.'>, NotIterable<Rule> {}
interface LoggedDeploy<Rule extends string = 'deploy must be an object'>
  extends Texts<keyof EntryDeploy, 'deploy.'>, NotIterable<Rule> {}
interface LoggedBreadcrumb<Rule extends string = 'each of breadcrumbs must be an object'>
  extends Texts<Exclude<keyof Breadcrumb, 'timestamp' | 'data'>, 'breadcrumbs[].'>, NotIterable<Rule> {
  /** ISO 8601, or milliseconds since the epoch. */
  readonly timestamp?: string | number | Date | Refused<'breadcrumbs[].timestamp must be a time'> | null | undefined
  readonly data?: object | Refused<'breadcrumbs[].data must be an object'> | null | undefined
}

/** The entry's fields that a record may have. Without `error` and `request`, which pino serializes itself. */
export interface IngestLogFields
  extends
    Ids<'user_id' | 'session_id' | 'request_id' | 'release_id'>,
    Texts<'action' | 'fingerprint' | 'source' | keyof EntryTrace> {
  /** As returned by `newEventId()`; on the entry it is `metadata.event_id`. */
  readonly event_id?: string | Refused<'event_id must be text'> | null | undefined
  /** Route pattern of the request, for request analytics: `/orders/:id`. */
  readonly route?: string | Refused<'route must be text, the pattern of a path'> | null | undefined
  readonly user?: LoggedUser | null | undefined
  readonly perf?: LoggedPerf | null | undefined
  readonly trace?: LoggedTrace | null | undefined
  readonly deploy?: LoggedDeploy | null | undefined
  readonly metadata?: object | Refused<'metadata must be an object'> | null | undefined
  readonly tags?: readonly string[] | Refused<'tags must be a list of texts'> | null | undefined
  readonly breadcrumbs?:
    | readonly LoggedBreadcrumb[]
    | Refused<'breadcrumbs must be a list of { type, category, message, level: text, timestamp, data: object }'>
    | null
    | undefined
  /** Requests a notification. */
  readonly notify?: boolean | Refused<'notify must be true or false'> | null | undefined
  readonly notify_channels?: readonly string[] | Refused<'notify_channels must be a list of texts'> | null | undefined
}

declare module 'pino' {
  interface LogFnFields extends IngestLogFields {}
}
