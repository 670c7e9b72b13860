/** The help: keys, and facts about the service. A modal dialog, because browsers keep the focus in it. */
import { useEffect, useRef } from 'preact/hooks'
import type { ServiceStatus } from '../../query/api-types.js'
import { formatCount, formatDuration, formatMemory } from '../view-format.js'
import { EDITOR_NAMES, editor, setEditor } from '../detail/editor-choice.js'
import type { Editor } from '../detail/editor.js'
import { Icon } from '../icons.js'
import { KEY_HELP } from '../keyboard.js'
import { useObservable } from '../use-observable.js'

export function Help({ status, onClose }: { status: ServiceStatus | undefined; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="help-body">
        <div class="help-head">
          <h2 id="help-title">Keys</h2>
          <button
            type="button"
            class="button plain icon small"
            aria-label="Close help"
            onClick={() => dialog.current?.close()}
          >
            <Icon name="close" />
          </button>
        </div>
        <dl class="keys">
          {KEY_HELP.map(([keys, meaning]) => (
            <div key={meaning}>
              <dt>{keys.map((key) => (key === '…' ? <span key={key}>–</span> : <kbd key={key}>{key}</kbd>))}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <p class="muted">
          In the chart: ← and → move, Shift extends, Enter selects the time. A search can end in a chart:{' '}
          <code>| p95(duration) by route</code>, <code>status:&gt;=500 | count by service</code>.
        </p>
        <EditorChoice />
        {status !== undefined && <About status={status} />}
      </div>
    </dialog>
  )
}

function EditorChoice() {
  const chosen = useObservable(editor)
  return (
    <p>
      <label>
        Frames of a stack open in{' '}
        <select class="select" value={chosen} onChange={(event) => setEditor(event.currentTarget.value as Editor)}>
          {EDITOR_NAMES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </p>
  )
}

function About({ status: { version, url, db_file: file, limits } }: { status: ServiceStatus }) {
  const age = limits.max_age_ms === null ? '' : `, none older than ${formatDuration(limits.max_age_ms)}`
  return (
    <>
      <h2>This service</h2>
      <p class="muted">
        pino-ingest {version} at <code>{url}</code>. It stores the newest {formatCount(limits.max_entries)} entries, at
        most {formatMemory(limits.max_bytes)}
        {age},{' '}
        {file === null ? (
          'in memory: lost when it ends'
        ) : (
          <>
            in <code>{file}</code>
          </>
        )}
        . The same as JSON: <code>/local/entries</code>, with the token as <code>Authorization: Bearer</code>.
      </p>
    </>
  )
}
