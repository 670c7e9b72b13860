/** Loads the fields of stored records on demand. */
import type { FieldInfo } from '../../query/api-types.js'
import { useQuery } from '../use-query.js'

export function useFields(kind: 'entries' | 'requests', isNeeded = true): readonly FieldInfo[] | undefined {
  return useQuery<{ readonly items: readonly FieldInfo[] }>(isNeeded ? 'fields' : null, { kind }).data?.items
}
