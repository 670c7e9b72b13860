/**
 * Encodes the dead letters that a forwarder could not store before it stopped, as the value of the batch's key in the bucket. The service
 * has accepted the batch, so the next forwarder stores the letters instead of sending the batch again. The value omits the entries: the
 * batch contains them, and they could exceed the maximum message size. Pure.
 */
import type { DeadLetter } from '../batch/batch.js'
import { parseBatchEntries } from '../batch/sub-batch.js'

export function formatUnstored(letters: readonly DeadLetter[]): string {
  return JSON.stringify(letters.map((letter) => ({ ...letter, entry: undefined })))
}

/**
 * @param body body of the batch
 * @returns [] for a batch without such letters, and for the value of another program
 */
export function parseUnstored(text: string, body: Uint8Array): DeadLetter[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  if (!Array.isArray(value)) return []
  const entries = parseBatchEntries(body)
  return value.filter(isLetter).flatMap((letter) => {
    const entry = entries[letter.index]
    return entry === undefined ? [] : [{ ...letter, entry }]
  })
}

function isLetter(value: unknown): value is Omit<DeadLetter, 'entry'> {
  const { batchId, index, status, code, field, reason } = Object(value) as Partial<DeadLetter>
  return (
    [batchId, code, field, reason].every((text) => typeof text === 'string') &&
    [index, status].every((number) => Number.isSafeInteger(number))
  )
}
