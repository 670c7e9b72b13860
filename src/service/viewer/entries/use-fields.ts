/** Loads the fields of stored records on demand. */
import type { FieldInfo } from '../../query/api-types.js'
import { useQuery } from '../use-query.js'

/** @param version loads them again when it changes */
export function useFields(
  kind: 'entries' | 'requests',
  isNeeded = true,
  version?: unknown,
): readonly FieldInfo[] | undefined {
  return useQuery<{ readonly items: readonly FieldInfo[] }>(isNeeded ? 'fields' : null, { kind }, version).data?.items
}
