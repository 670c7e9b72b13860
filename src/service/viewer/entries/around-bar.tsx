/** A notice that the list shows the entries around one, with a button to go back. */
import { navigate } from '../use-view.js'

export function AroundBar({ isFound, isFiltered }: { isFound: boolean; isFiltered: boolean }) {
  return (
    <p class="around-bar" role="status">
      <span>
        {isFound
          ? 'All entries around the marked one, without the filter. New entries are not added.'
          : 'The entry of this address is not stored.'}
      </span>
      <button type="button" class="button small" onClick={() => navigate({ around: null })}>
        {isFiltered ? 'Back to the filtered list' : 'Back to the live list'}
      </button>
    </p>
  )
}
