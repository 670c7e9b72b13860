/** Shows the error or a likely mistake in a query, and marks its place. */
import type { QueryMistake } from '../../query/language/index.js'

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
  return (
    <p class="query-problem" id={id} role="alert">
      <Marked q={q} position={position} length={length} /> {message}{' '}
      <span class="faint">(character {position + 1})</span>
    </p>
  )
}

/** A valid query that can only be a mistake, with a button that corrects it. */
export function QueryHint({ mistake, onCorrect }: { mistake: QueryMistake; onCorrect: () => void }) {
  return (
    <p class="query-hint" role="status">
      {mistake.message}.{' '}
      <button type="button" class="link-button" onPointerDown={(event) => event.preventDefault()} onClick={onCorrect}>
        Search <code>{mistake.corrected}</code>
      </button>
    </p>
  )
}

function Marked({ q, position, length }: Omit<MarkedProblem, 'message'>) {
  const end = position + Math.max(1, length)
  const start = Math.max(0, position - AROUND)
  return (
    <code>
      {start > 0 && '…'}
      {q.slice(start, position)}
      <mark>{q.slice(position, end) || ' '}</mark>
      {q.slice(end, end + AROUND)}
    </code>
  )
}
