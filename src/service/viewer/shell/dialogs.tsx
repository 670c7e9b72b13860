/** The modal dialogs, in which browsers keep the focus: help and settings, and the question before all records are deleted. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ServiceStatus } from '../../query/api-types.js'
import { RECORD_KINDS } from '../../store/stored-record.js'
import { reset } from '../api.js'
import { Problem } from '../components.js'
import { showNotice } from '../detail/notice.js'
import { Icon } from '../icons.js'
import { KEY_HELP } from '../keyboard.js'
import type { Observable } from '../observable.js'
import { EDITOR_NAMES, editor, theme, THEMES } from '../settings.js'
import { useObservable } from '../use-observable.js'
import { formatBytes, formatCount, formatDuration, formatPlural } from '../view-format.js'
import { RECORD_NAMES } from './header.js'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class="popup dialog"
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog-body">
        <div class="toolbar">
          <h2 id="dialog-title">{title}</h2>
          <button
            type="button"
            class="button plain icon small"
            aria-label="Close"
            onClick={() => dialog.current?.close()}
          >
            <Icon name="close" />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  )
}

interface HelpProps {
  readonly status: ServiceStatus | undefined
  readonly onClose: () => void
}

export function Help({ status, onClose }: HelpProps) {
  return (
    <Dialog title="Help" onClose={onClose}>
      <dl>
        {KEY_HELP.map(([keys, meaning]) => (
          <div key={meaning} class="fact">
            <dt>{keys.map((key) => (key === '…' ? '–' : <kbd key={key}>{key}</kbd>))}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">
        In the chart: ← and → move, Shift extends, Enter selects the time. A search can end in a chart:{' '}
        <code>| p95(duration) by route</code>, <code>status:&gt;=500 | count by service</code>.
      </p>
      <Choice label="Theme" choice={theme} values={THEMES} />
      <Choice label="Frames of a stack open in" choice={editor} values={EDITOR_NAMES} />
      {status !== undefined && <About status={status} />}
    </Dialog>
  )
}

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly choice: Observable<T>
  readonly values: readonly T[]
}

function Choice<T extends string>({ label, choice, values }: ChoiceProps<T>) {
  const chosen = useObservable(choice)
  return (
    <label>
      {label}{' '}
      <select class="select" value={chosen} onChange={(event) => choice.set(event.currentTarget.value as T)}>
        {values.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  )
}

function About({ status: { version, url, db_file: file, limits } }: { readonly status: ServiceStatus }) {
  const age = limits.max_age_ms === null ? '' : `, none older than ${formatDuration(limits.max_age_ms)}`
  return (
    <p class="muted">
      pino-ingest {version} at <code>{url}</code>. It stores the newest {formatCount(limits.max_entries)} entries, at
      most {formatBytes(limits.max_bytes)}
      {age}, {file === null ? 'in memory; records are lost when the service stops' : <code>{file}</code>}. JSON API:{' '}
      <code>GET /local/entries</code> with the header <code>Authorization: Bearer TOKEN</code>.
    </p>
  )
}

export function DeleteDialog({ status, onClose }: HelpProps) {
  const [error, setError] = useState<Error>()
  const parts = RECORD_KINDS.flatMap((kind) => {
    const count = status?.stored[kind] ?? 0
    return count === 0 ? [] : [formatPlural(count, ...RECORD_NAMES[kind])]
  })
  const deleteAll = (): void => {
    reset().then(
      () => {
        onClose()
        showNotice('All records were deleted')
      },
      (reason: unknown) => setError(reason instanceof Error ? reason : new Error(String(reason))),
    )
  }
  return (
    <Dialog title="Delete all records" onClose={onClose}>
      <p class="muted">
        {parts.length === 0 ? 'Nothing is stored.' : `${parts.join(', ')}.`} The file of the service, if it has one, is
        emptied.
      </p>
      <Problem error={error} />
      <div class="toolbar">
        <button type="button" class="button bad" onClick={deleteAll}>
          Delete all records
        </button>
        <button type="button" class="button" onClick={onClose} autofocus>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}
