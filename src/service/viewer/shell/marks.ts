/** What needs a look. */
export interface Marks {
  readonly errors: number
  readonly monitors: number
}
