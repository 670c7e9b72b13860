/** Types of the HTTP module. */
import type { ProcessFailure } from '../batch/outcome.js'
import type { ApiKey } from '../options/api-key.js'
import type { Secret } from '../options/secret.js'
import type { Tls } from '../options/tls.js'

export interface HttpOptions {
  /** Base URL without a trailing slash; ends with `/api/v1`. */
  readonly url: string
  /** Read again from its file, if it came from one, before the first request after a 401 or 403. */
  readonly apiKey: ApiKey
  /** Sent with every request; names in lower case. */
  readonly headers?: Readonly<Record<string, Secret>>
  /** Not shown in errors. */
  readonly secrets?: readonly Secret[]
  readonly tls?: Tls | undefined
  /** URL of a proxy; `false` for none. Used with CONNECT, so it does not see the key if the log service uses https. */
  readonly proxy?: string | false | undefined
  /** Milliseconds for the whole exchange. */
  readonly requestTimeoutMs: number
  readonly maxConnections: number
}

export interface HttpReply {
  readonly status: number
  /** Names in lower case. The value of a repeated header is an array. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Decompressed; at most `MAX_REPLY_BYTES`, and the rest is not read. As received if it cannot be decompressed. */
  readonly text: string
  /** Whether the reply was longer than `text`. */
  readonly truncated: boolean
}

export interface HttpRequestInit {
  readonly signal?: AbortSignal
  /** Milliseconds for the whole exchange, if fewer than `requestTimeoutMs`. */
  readonly timeoutMs?: number
  /** Whether to omit the key, as for the heartbeat (interface: Authentication 2). */
  readonly keyless?: boolean
  /** In addition to those of all requests; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Http {
  /** Loads the modules for requests, which takes 25 ms, so the first request does not wait for them. */
  prepare(): void
  /**
   * One POST to `{base_url}` + `path`. Redirects are returned, never followed.
   * @throws HttpFailure when there was no complete reply.
   */
  post(path: string, body: Uint8Array | string | null, init?: HttpRequestInit): Promise<HttpReply>
  /** Closes all connections immediately. Requests in flight and later ones fail as `aborted`. */
  close(): Promise<void>
}

/** `reset`: the connection ended after the request had begun. */
export type HttpFailureKind = 'network' | 'reset' | 'timeout' | 'aborted' | ProcessFailure

/** There was no complete reply. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly kind: HttpFailureKind
  /** For the user, of a `ProcessFailure`. Lower case, without a full stop. */
  readonly remedy: string | undefined

  constructor(kind: HttpFailureKind, message: string, remedy?: string) {
    super(message)
    this.kind = kind
    this.remedy = remedy
  }
}
