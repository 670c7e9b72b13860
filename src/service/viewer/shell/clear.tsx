/** Asks before all records are deleted, and says which. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ServiceStatus } from '../../query/api-types.js'
import { RECORD_KINDS } from '../../store/stored-record.js'
import type { RecordKind } from '../../store/stored-record.js'
import { reset } from '../api.js'
import { Problem } from '../components.js'
import { showNotice } from '../detail/notice.js'
import { formatPlural } from '../view-format.js'

const NAMES: Readonly<Record<RecordKind, readonly [one: string, many: string]>> = {
  entry: ['entry', 'entries'],
  request: ['request', 'requests'],
  feedback: ['comment', 'comments'],
  release: ['registration of a release', 'registrations of releases'],
  heartbeat: ['heartbeat', 'heartbeats'],
  rejected: ['refused request', 'refused requests'],
}

export function ClearDialog({ status, onClose }: { status: ServiceStatus | undefined; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [error, setError] = useState<Error>()
  const [isUnderWay, setUnderWay] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  const parts = RECORD_KINDS.flatMap((kind) => {
    const count = status?.stored[kind] ?? 0
    return count === 0 ? [] : [formatPlural(count, ...NAMES[kind])]
  })
  const clear = (): void => {
    setUnderWay(true)
    reset().then(
      () => {
        dialog.current?.close()
        showNotice('Cleared')
      },
      (reason: unknown) => {
        setUnderWay(false)
        setError(reason instanceof Error ? reason : new Error(String(reason)))
      },
    )
  }
  return (
    <dialog ref={dialog} class="help clear" aria-labelledby="clear-title" onClose={onClose}>
      <div class="help-body">
        <h2 id="clear-title">Delete everything that is stored?</h2>
        <p>
          {parts.length === 0 ? 'Nothing is stored.' : `${parts.join(', ')}.`} Scripted faults are removed, too. The
          file of the service, if it has one, is emptied.
        </p>
        <Problem error={error} />
        <p class="page-buttons">
          <button type="button" class="button" onClick={clear} disabled={isUnderWay}>
            Delete
          </button>
          <button type="button" class="button" onClick={() => dialog.current?.close()} autofocus>
            Cancel
          </button>
        </p>
      </div>
    </dialog>
  )
}
