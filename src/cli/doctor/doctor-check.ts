export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** Advice. A check with `ok` true and a fix is a warning. */
  readonly fix?: string
}

export function pass(name: string, detail: string, fix?: string): Check {
  return { name, ok: true, detail, ...(fix !== undefined && { fix }) }
}

export function fail(name: string, detail: string, fix: string): Check {
  return { name, ok: false, detail, fix }
}
