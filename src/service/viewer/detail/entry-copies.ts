/** Copies a whole entry: as JSON, as a link, or its request as curl. */
import type { StoredEntry } from '../../store/stored-record.js'
import { createHref } from '../view.js'
import { UNKNOWN_HOST, formatCurlCommand } from './curl.js'
import { copyWithNotice, showNotice } from './notice.js'

export function copyEntryJson({ entry }: StoredEntry): void {
  copyWithNotice(JSON.stringify(entry, null, 2), 'the entry as JSON')
}

/** Copies the address without the token. */
export function copyEntryLink({ id }: StoredEntry): void {
  copyWithNotice(location.origin + createHref({ entry: id }), 'the link')
}

export function copyRequestCurl({ entry }: StoredEntry): void {
  const command = formatCurlCommand(entry)
  if (command === null) showNotice('This entry has no request to copy')
  else if (command.includes(UNKNOWN_HOST))
    copyWithNotice(command, `the request as curl. The record has no host: replace ${UNKNOWN_HOST}`)
  else copyWithNotice(command, 'the request as curl')
}
