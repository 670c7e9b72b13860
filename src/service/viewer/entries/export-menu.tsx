/** Downloads all matching entries as NDJSON or CSV. */
import { useState } from 'preact/hooks'
import { request } from '../api.js'
import { showNotice } from '../detail/notice.js'
import { Icon } from '../icons.js'
import { Popup } from '../popup.js'
import { CSV_COLUMNS } from '../../query/csv-columns.js'
import { listFilterParameters, formatColumns } from '../view.js'
import type { View } from '../view.js'
import { saveFile } from './save-file.js'

const FORMATS = [
  ['ndjson', 'NDJSON', 'whole entries, one per line'],
  ['csv', 'CSV', 'for spreadsheets, also with the added columns'],
] as const

export function ExportMenu({ view }: { view: View }) {
  const [isLoading, setLoading] = useState(false)
  const download = async (format: string): Promise<void> => {
    setLoading(true)
    try {
      const columns =
        format === 'csv' && view.columns.length > 0 ? { columns: formatColumns([...CSV_COLUMNS, ...view.columns]) } : {}
      // Sends the token in a header: the browser's download history would store it as part of the URL.
      const response = await request('export', { ...listFilterParameters(view, Date.now()), ...columns, format }, {})
      saveFile(await response.blob(), `entries.${format}`)
    } catch (error) {
      showNotice(`The export failed: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      setLoading(false)
    }
  }
  const label = (
    <>
      <Icon name="export" />
      <span class="word">{isLoading ? 'Exporting …' : 'Export'}</span>
    </>
  )
  return (
    <Popup label={label} title="Export" kind="dialog">
      {(close) => (
        <div role="dialog" aria-label="Export" class="saved">
          {FORMATS.map(([format, title, about]) => (
            <button
              key={format}
              type="button"
              class="saved-query"
              onClick={() => {
                close()
                void download(format)
              }}
            >
              <b>{title}</b>
              <span class="faint">{about}</span>
            </button>
          ))}
        </div>
      )}
    </Popup>
  )
}
