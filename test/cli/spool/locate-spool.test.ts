import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findSent } from '../../../src/cli/spool/locate-spool.js'
import { nameDestination, nameKeyReplaced } from '../../../src/spool/spool-root.js'
import { resolve } from '../../options/resolve.js'
import { removeScratch, scratchFolder } from '../../spool/scratch.js'

const URL = 'https://logs.example.com/api/v1'

test('entries of a replaced key are sent by an application with the new one', () => {
  const root = scratchFolder()
  onTestFinished(() => removeScratch(root))
  const [present, former, replaced, other] = ['present', 'former', 'replaced', 'other'].map((key) =>
    nameDestination(URL, key),
  ) as [string, string, string, string]
  for (const name of [replaced, other]) mkdirSync(join(root, name))
  writeFileSync(join(root, replaced, nameKeyReplaced(present)), '')
  const sent = findSent(root, resolve({ url: URL, apiKey: 'present', previousApiKeys: ['former'] }))
  expect(sent[0]).toBe(present)
  expect(sent).toEqual(expect.arrayContaining([former, replaced]))
  expect(sent).not.toContain(other)
})
