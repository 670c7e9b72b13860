import { describe, expect, it } from 'vitest'
import { createSubBatchId, parseBatchEntries } from '../../../src/batch/sub-batch.js'
import { createRepublishedBatch } from '../../../src/cli/forward/republished-batch.js'

const LETTER = { batchId: '11111111-2222-4333-8444-555555555555', index: 3, entry: '{"big":12345678901234567890}' }

describe('a dead letter as a batch', () => {
  it('has the same id in each replay, different from sub-batches and other entries', () => {
    const { batchId, body } = createRepublishedBatch(LETTER) ?? { batchId: '', body: Buffer.alloc(0) }
    expect(createRepublishedBatch(LETTER)?.batchId).toBe(batchId)
    const others = [
      LETTER.batchId,
      createSubBatchId(LETTER.batchId, [3]),
      createRepublishedBatch({ ...LETTER, index: 4 })?.batchId,
      createRepublishedBatch({ ...LETTER, batchId })?.batchId,
    ]
    expect(others).not.toContain(batchId)
    expect(parseBatchEntries(body)).toEqual([LETTER.entry])
    expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({ batch_id: batchId })
  })

  it.each(['', 'text', '[1]', 'null', '{"a"', '\ufffd\u0000'])(
    'is undefined for a letter without an entry: %j',
    (entry) => {
      expect(createRepublishedBatch({ ...LETTER, entry })).toBeUndefined()
    },
  )
})
