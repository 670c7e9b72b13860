/** `IngestOptions` is generated from the table of options, and is what the table implies. `npm run docs` rewrites it. */
import { writeFileSync } from 'node:fs'
import { expectTypeOf } from 'expect-type'
import { expect, test } from 'vitest'
import type { IngestOptions } from '../../src/options/options-interface.js'
import type { OptionsOfTable } from '../../src/options/option-table.js'
import { renderInterface } from './render-interface.js'
import { readText, root } from '../markdown.js'

const FILE = 'src/options/options-interface.ts'

test('the file is the one that the table generates', () => {
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(root + FILE, renderInterface())
  expect(readText(FILE)).toBe(renderInterface())
})

test('its types are those of the table, which the compiler checks', () => {
  expectTypeOf<IngestOptions>().toEqualTypeOf<OptionsOfTable>()
  // Changes of one member, which the comparison must find.
  type Batch = NonNullable<IngestOptions['batch']>
  expectTypeOf<Omit<IngestOptions, 'batch'> & { batch?: Batch }>().not.toEqualTypeOf<OptionsOfTable>()
  expectTypeOf<{
    [Name in keyof IngestOptions]: Name extends 'sendLevel' ? string | undefined : IngestOptions[Name]
  }>().not.toEqualTypeOf<OptionsOfTable>()
  expectTypeOf<{
    [Name in keyof IngestOptions]: Name extends 'batch'
      ? { [Member in keyof Batch]-?: Batch[Member] } | undefined
      : IngestOptions[Name]
  }>().not.toEqualTypeOf<OptionsOfTable>()
  expectTypeOf<Required<IngestOptions>>().not.toEqualTypeOf<OptionsOfTable>()
})
