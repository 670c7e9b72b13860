/** Finds the running local service, and says why it cannot be used. */
import { TOKEN_VARIABLE } from '../../options/known-variables.js'
import { isLoopback } from '../../options/url.js'
import { CommandError, EXIT_FAILED, createUsageError } from '../shared/command.js'
import type { Arguments, Flags } from '../shared/command.js'
import { requireToken } from '../shared/token-store.js'
import { AnswerError, LocalServiceClient } from './local-service-client.js'

export const DEFAULT_PORT = 4319
const DEFAULT_ORIGIN = `http://127.0.0.1:${DEFAULT_PORT}`
const URL_VARIABLE = 'PINO_INGEST_URL'

export const URL_FLAG: Flags = {
  url: {
    value: 'URL',
    meaning: `address of the local service; default: ${URL_VARIABLE} if it is a loopback address, else ${DEFAULT_ORIGIN}`,
  },
}

export const TOKEN_NOTE = `It reads the token that pino-ingest dev stored; ${TOKEN_VARIABLE} overrides it.`

/** Also accepts the URL of the API. @throws CommandError */
export function findOrigin({ texts }: Pick<Arguments, 'texts'>): string {
  const text = texts.get('url')
  if (text === undefined) return toLocalOrigin(process.env[URL_VARIABLE] ?? '') ?? DEFAULT_ORIGIN
  if (/[#?&]token=/.test(text))
    throw createUsageError(
      `--url must not contain the token, since process lists show arguments; it is read from the file of pino-ingest dev or from ${TOKEN_VARIABLE}`,
    )
  const origin = toLocalOrigin(text)
  if (origin !== undefined) return origin
  throw createUsageError(
    `--url must be the address of a local service, such as ${DEFAULT_ORIGIN}, got ${JSON.stringify(text)}`,
  )
}

/** Undefined for any other host, which would receive the token over the network; the service listens on loopback only. */
function toLocalOrigin(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isLocal = url?.protocol === 'http:' && isLoopback(text)
  return isLocal && url.username === '' && url.password === '' ? url.origin : undefined
}

/**
 * @param use `renewToken` reads the token again, and returns whether it has changed
 * @throws CommandError, which says what to do if the service cannot be used
 */
export async function useLocalService<T>(
  origin: string,
  signal: AbortSignal | undefined,
  use: (service: LocalServiceClient, renewToken: () => boolean) => Promise<T>,
): Promise<T> {
  let access = requireToken(process.env)
  const service = new LocalServiceClient(origin, () => access.token, signal)
  try {
    return await use(service, () => {
      const { token } = access
      access = requireToken(process.env)
      return access.token !== token
    })
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError('UNAVAILABLE', describeFailure(error, origin, access.from), EXIT_FAILED)
  } finally {
    service.close()
  }
}

function describeFailure(error: unknown, origin: string, tokenFrom: string): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (!(error instanceof AnswerError)) {
    return code === 'ECONNREFUSED'
      ? `nothing listens at ${origin}: start the local service with npx pino-ingest dev, or set another address with --url`
      : `${origin} does not respond (${code ?? message}); set another address with --url`
  }
  switch (error.problem) {
    case 'token':
      return `the local service at ${origin} does not have the token from ${tokenFrom}; if it is your pino-ingest dev and not another user's, set ${TOKEN_VARIABLE} to the token in the page address that it printed`
    case 'foreign':
      return `the listener at ${origin} is not pino-ingest dev (${message}); set another address with --url`
    case 'busy':
    case 'refused':
      return `${origin} replied: ${message}`
  }
}
