/** An entry's tags, as links to all entries with the same tag. */
import { Many } from './show-more.js'
import { EntriesLink } from './entries-link.js'
import { truncate } from './tree.js'
import { ValueMenu } from './value-menu.js'

export function Tags({ tags }: { readonly tags: readonly string[] }) {
  return (
    <div class="tags">
      <Many items={tags} step={30} noun="tags">
        {(shown) => (
          <ul aria-label="Tags">
            {shown.map((tag, index) => (
              <li key={index}>
                <EntriesLink class="tag" name="tag" value={tag} title="All entries with this tag">
                  {truncate(tag, 60)}
                </EntriesLink>
                <ValueMenu name={tag} field="tag" value={tag} />
              </li>
            ))}
          </ul>
        )}
      </Many>
    </div>
  )
}
