/** Selects the fields to show as columns. */
import { useState } from 'preact/hooks'
import { Icon } from '../icons.js'
import { Popup } from '../popup.js'
import { navigate } from '../use-view.js'
import { Options } from './options.js'
import { useFields } from './use-fields.js'

const SHOWN = 100
/** Listed first: they answer most questions. */
const FIRST = ['duration', 'status', 'user', 'route']

export function ColumnsMenu({ columns }: { columns: readonly string[] }) {
  const label = (
    <>
      <Icon name="columns" />
      <span class="word">Columns</span>
      {columns.length > 0 && <span class="count">{columns.length}</span>}
    </>
  )
  return (
    <Popup label={label} title="Columns" kind="listbox" class={columns.length > 0 ? 'button picker on' : undefined}>
      {(close) => <Fields columns={columns} onLeave={close} />}
    </Popup>
  )
}

function Fields({ columns, onLeave }: { columns: readonly string[]; onLeave: () => void }) {
  const [text, setText] = useState('')
  const fields = useFields('entries')
  const stored = (fields ?? []).map(({ name }) => name)
  const names = [...new Set([...columns, ...FIRST.filter((name) => stored.includes(name)), ...stored])]
  const found = names.filter((name) => name.toLowerCase().includes(text.toLowerCase()))
  return (
    <Options
      id="options-columns"
      title="Columns"
      options={found.slice(0, SHOWN).map((value) => ({ value, state: columns.includes(value) ? 'chosen' : 'none' }))}
      hasMore={found.length > SHOWN}
      empty={fields === undefined ? 'Loading …' : 'No field has this name.'}
      isFree={false}
      onInput={setText}
      onChoose={(name) =>
        navigate({ columns: columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name] })
      }
      onLeave={onLeave}
    />
  )
}
