/** The query fields of values. */
import { expect, test } from 'vitest'
import { isColumnName, toMetadataField, toggleColumn } from '../../../../src/service/viewer/detail/value-field.js'

test.each([
  [['orderId'], 'metadata.orderId'],
  [['cart', 'items', 0, 'sku'], 'metadata.cart.items.sku'],
  [['last seen', 'a.b'], 'metadata.last seen.a.b'],
] as const)('%j is %s', (path, field) => expect(toMetadataField(path)).toBe(field))

test('columns are added once, removed, and available for every field that fits', () => {
  expect(toggleColumn(['a'], 'b')).toEqual(['a', 'b'])
  expect(toggleColumn(['a', 'b'], 'a')).toEqual(['b'])
  for (const field of ['', 'error.stack', 'breadcrumbs']) expect(isColumnName(field)).toBe(false)
  for (const field of ['metadata.orderId', 'metadata.a,b']) expect(isColumnName(field)).toBe(true)
})
