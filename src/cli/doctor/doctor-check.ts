export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** What to do. On a check that is ok it makes a warning of it. */
  readonly fix?: string
}
