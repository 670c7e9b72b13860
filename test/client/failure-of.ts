import { inspect } from 'node:util'
import { expect } from 'vitest'

/** The error of a promise that must reject. Checks that nothing in it shows a secret. */
export async function failureOf<E extends Error>(promise: Promise<unknown>, ...secrets: readonly string[]): Promise<E> {
  const error = (await promise.then(
    (value) => new Error(`it resolved with ${inspect(value)}`),
    (failure: unknown) => failure as E,
  )) as E
  if (error.message.startsWith('it resolved')) throw error
  const shown = [
    error.message,
    String(error),
    error.stack,
    inspect(error, { showHidden: true, depth: null, getters: true }),
    inspect(error.cause),
    JSON.stringify(error),
  ].join('\n')
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  ])
  expect(forms.filter((form) => shown.includes(form))).toEqual([])
  return error
}
