/** The constants of DOMException (Web IDL, section 2.8.1), which serializers copy to each error: `TIMEOUT_ERR: 23` and 24 others. */

export const DOM_CONSTANTS: ReadonlyMap<string, unknown> = new Map(
  Object.entries(DOMException).filter(([name]) => name.endsWith('_ERR')),
)

/** Whether a plain error has all of them, so that none is a member of the application's own. */
export function hasDomConstants(error: Readonly<Record<string, unknown>>): boolean {
  for (const [name, value] of DOM_CONSTANTS) if (error[name] !== value) return false
  return DOM_CONSTANTS.size > 0
}
