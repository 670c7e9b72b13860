/** Shows the error in a query, and marks the invalid part. */
export interface MarkedProblem {
  readonly q: string
  readonly message: string
  readonly position: number
  readonly length: number
}

/** Number of characters to show before and after the invalid part. */
const AROUND = 30

export function QueryProblem({
  id,
  problem: { q, message, position, length },
}: {
  id: string
  problem: MarkedProblem
}) {
  const end = position + Math.max(1, length)
  const start = Math.max(0, position - AROUND)
  return (
    <p class="query-problem" id={id} role="alert">
      <code>
        {start > 0 && '…'}
        {q.slice(start, position)}
        <mark>{q.slice(position, end) || ' '}</mark>
        {q.slice(end, end + AROUND)}
      </code>{' '}
      {message} <span class="faint">(character {position + 1})</span>
    </p>
  )
}
