/** The release that an entry names, by its version. */
import type { Page, StoredRelease } from '../../store/store.js'
import { useQuery } from '../use-query.js'
import { hrefOf } from '../view.js'
import { cut } from './tree.js'

/** Older ones are told by their id alone. */
const LOOKED_AT = 200

export function ReleaseFact({ id }: { readonly id: string }) {
  const { data } = useQuery<Page<StoredRelease>>('releases', { limit: LOOKED_AT })
  const version = data?.items.find((one) => one.release_id === id)?.release.version
  return (
    <div class="fact">
      <dt>Release</dt>
      <dd><a href={hrefOf({ name: 'releases' })} title="All releases">{version === undefined ? 'Releases' : cut(version, 100)}</a></dd>
    </div>
  )
}
