/** Members of a record that a breadcrumb treats differently. */

/** Omitted members: they are also on the error's entry, or long and on the record's own entry. */
export const NOT_DATA: ReadonlySet<string> = new Set(
  'pid hostname name event_id req res ecs.version event.dataset logging.googleapis.com/insertId'.split(' '),
)

/** Names for the part of the application that logs; the first match wins. */
export const CATEGORY_KEYS: readonly string[] = ['category', 'module', 'component', 'context']
