/** The state of the page as a URL query: parsing and formatting (pure). */
export const VIEWS = ['entries', 'errors', 'requests', 'releases', 'monitors', 'feedback', 'rejected'] as const

export type ViewName = (typeof VIEWS)[number]

/** The filters of the API, in their order in an address. */
export const FILTER_NAMES = [
  'level',
  'service',
  'environment',
  'version',
  'release_id',
  'tag',
  'trace_id',
  'request_id',
  'fingerprint',
  'q',
  'since',
  'until',
] as const

export type FilterName = (typeof FILTER_NAMES)[number]

export type Filters = Readonly<Partial<Record<FilterName, string>>>

export interface View {
  readonly name: ViewName
  readonly filters: Filters
  /** Id of the entry whose detail is open. */
  readonly entry: string | null
  /** Method and route that are selected in the requests view, for example `GET /orders/:id`. */
  readonly route: string | null
}

const START: View = { name: 'entries', filters: {}, entry: null, route: null }

/** Unknown parameters are ignored: an address may be from another version of the page. */
export function parseView(search: string): View {
  const parameters = new URLSearchParams(search)
  const name = parameters.get('view')
  const filters: Partial<Record<FilterName, string>> = {}
  for (const filter of FILTER_NAMES) {
    const value = parameters.get(filter)
    if (value !== null && value !== '') filters[filter] = value
  }
  return {
    name: isViewName(name) ? name : START.name,
    filters,
    entry: parameters.get('entry') || null,
    route: parameters.get('route') || null,
  }
}

/** The address of a view. Defaults: entries, no filter, nothing open. */
export function createHref(change: Partial<View>): string {
  const view = { ...START, ...change }
  const parameters = new URLSearchParams()
  if (view.name !== START.name) parameters.set('view', view.name)
  for (const filter of FILTER_NAMES) {
    const value = view.filters[filter]
    if (value !== undefined && value !== '') parameters.set(filter, value)
  }
  if (view.route !== null) parameters.set('route', view.route)
  if (view.entry !== null) parameters.set('entry', view.entry)
  // Commas and colons need no encoding, and shared addresses are easier to read without it.
  const search = parameters.toString().replaceAll('%2C', ',').replaceAll('%3A', ':')
  return search === '' ? '/' : `/?${search}`
}

/** Another view begins with nothing open. It keeps the filters, so that one service can be followed through all views. */
export function changedView(view: View, change: Partial<View>): View {
  const isOther = change.name !== undefined && change.name !== view.name
  return { ...view, ...(isOther && { entry: null, route: null }), ...change }
}

/** An empty value removes the filter. */
export function withFilter(filters: Filters, name: FilterName, value: string | null): Filters {
  const { [name]: _old, ...rest } = filters
  return value === null || value === '' ? rest : { ...rest, [name]: value }
}

export function withoutFilters(filters: Filters, ...names: readonly FilterName[]): Filters {
  return names.reduce((left, name) => withFilter(left, name, null), filters)
}

/** Independent of the order in which the filters were set. */
export function filterKey(filters: Filters): string {
  return JSON.stringify(FILTER_NAMES.map((name) => filters[name]))
}

function isViewName(name: string | null): name is ViewName {
  return (VIEWS as readonly (string | null)[]).includes(name)
}
