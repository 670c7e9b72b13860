/** Why a query is wrong, with the wrong part marked. */
export interface MarkedProblem {
  readonly q: string
  readonly message: string
  readonly position: number
  readonly length: number
}

/** Characters shown before and after the wrong part. */
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
