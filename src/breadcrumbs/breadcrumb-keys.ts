/** Members of a record that a crumb treats in a way of its own. */

/** Of the error that it goes with, too; or long, and of its own entry. */
export const NOT_DATA: ReadonlySet<string> = new Set(['pid', 'hostname', 'name', 'event_id', 'req', 'res'])

/** What a record calls the part of the app that logs; the first counts. */
export const CATEGORY_KEYS: readonly string[] = ['category', 'module', 'component', 'context']
