/** Selects the fields to show as columns. */
import { useState } from 'preact/hooks'
import { Icon } from '../icons.js'
import { navigate } from '../use-view.js'
import { Options } from './options.js'
import { Popup } from './popup.js'
import { useFields } from './use-fields.js'

const SHOWN = 100

export function ColumnsMenu({ columns }: { columns: readonly string[] }) {
  const label = (
    <>
      <Icon name="columns" />
      <span class="word">Columns</span>
      {columns.length > 0 && <span class="count">{columns.length}</span>}
    </>
  )
  return (
    <Popup label={label} title="Columns" kind="listbox" isSet={columns.length > 0} class="at-end">
      {(close) => <Fields columns={columns} onLeave={close} />}
    </Popup>
  )
}

function Fields({ columns, onLeave }: { columns: readonly string[]; onLeave: (isBack: boolean) => void }) {
  const [text, setText] = useState('')
  const fields = useFields('entries')
  const names = [...columns, ...(fields ?? []).map(({ name }) => name).filter((name) => !columns.includes(name))]
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
