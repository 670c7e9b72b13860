/** Members of a record that are treated differently in a breadcrumb. */

/** Left out: also on the error's entry, or long and on the record's own entry. */
export const NOT_DATA: ReadonlySet<string> = new Set([
  'pid',
  'hostname',
  'name',
  'event_id',
  'req',
  'res',
  'ecs.version',
  'event.dataset',
  'logging.googleapis.com/insertId',
])

/** Names for the part of the application that logs; the first one found counts. */
export const CATEGORY_KEYS: readonly string[] = ['category', 'module', 'component', 'context']
