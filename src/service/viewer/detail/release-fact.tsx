/** The version of an entry's release. */
import type { Page, StoredRelease } from '../../store/stored-record.js'
import { useQuery } from '../use-query.js'
import { createHref } from '../view.js'
import { truncate } from './tree.js'

/** Number of newest releases to search; for older ones, only the id is shown. */
const LOOKED_AT = 200

export function ReleaseFact({ id }: { readonly id: string }) {
  const { data } = useQuery<Page<StoredRelease>>('releases', { limit: LOOKED_AT })
  const version = data?.items.find((one) => one.release_id === id)?.release.version
  return (
    <div class="fact">
      <dt>Release</dt>
      <dd>
        <a href={createHref({ name: 'releases' })} title="All releases">
          {version === undefined ? 'Releases' : truncate(version, 100)}
        </a>
      </dd>
    </div>
  )
}
