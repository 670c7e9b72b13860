/** DOMException (Web IDL, section 2.8.1), whose 25 constants serializers copy to each error. */

/** The class of all errors of Web APIs; `name` has the kind of error, such as `AbortError`. */
export const DOM_EXCEPTION = 'DOMException'

export const DOM_CONSTANTS: ReadonlyMap<string, unknown> = new Map(
  Object.entries(DOMException).filter(([name]) => name.endsWith('_ERR')),
)

/** Whether a plain error has all of these constants, so none of them is the application's own. */
export function hasDomConstants(error: Readonly<Record<string, unknown>>): boolean {
  for (const [name, value] of DOM_CONSTANTS) if (error[name] !== value) return false
  return DOM_CONSTANTS.size > 0
}
