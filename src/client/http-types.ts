/** What the one place that talks HTTP promises to those above it. */
import type { Tls } from '../options/tls.js'

export interface HttpOptions {
  /** Base URL without a trailing slash; ends with `/api/v1`. */
  readonly url: string
  readonly apiKey: string
  readonly tls?: Tls | undefined
  /** URL of a proxy; `false` for none. Reached through CONNECT, so that it sees no key where the service is https. */
  readonly proxy?: string | false | undefined
  /** Hosts that are reached without the proxy, as `NO_PROXY`. */
  readonly noProxy?: string | undefined
  /** Milliseconds for the whole exchange. */
  readonly requestTimeoutMs: number
  readonly maxConnections: number
  /** The URL is the implicit local default. The listener must prove that it is the local service of this user before anything is sent. Default false. */
  readonly isLocalDefault?: boolean
}

export interface HttpReply {
  readonly status: number
  /** Names in lower case. A repeated header is an array. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** At most `maxReplyBytes`; what is beyond is not read. */
  readonly text: string
  /** The reply was longer than what `text` holds. */
  readonly truncated: boolean
}

export interface HttpRequestInit {
  readonly signal?: AbortSignal
  /** Milliseconds for the whole exchange, where they are fewer than `requestTimeoutMs`. */
  readonly timeoutMs?: number
  /** The heartbeat carries no key (interface: Authentication 2). */
  readonly keyless?: boolean
  /** `gzip` where the body was compressed. */
  readonly contentEncoding?: string
}

export interface Http {
  /**
   * One POST to `{base_url}` + `path`. Redirects are returned, never followed.
   * @throws HttpFailure when there was no complete reply.
   */
  post(path: string, body: Uint8Array | string | null, init?: HttpRequestInit): Promise<HttpReply>
  /** Ends idle and open connections, at once: what is under way, and what comes later, fails as `aborted`. */
  close(): Promise<void>
}

/** `unproven`: nothing was sent, since the listener at the implicit local URL is not known to be this user's. */
export type HttpFailureKind = 'network' | 'timeout' | 'aborted' | 'unproven'

/** No complete reply: the network failed, the time was up, the listener is not this user's, or the caller aborted or closed. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly kind: HttpFailureKind
  /** Set for `unproven`: what the user can do. */
  readonly remedy: string | undefined

  constructor(kind: HttpFailureKind, message: string, remedy?: string) {
    super(message)
    this.kind = kind
    this.remedy = remedy
  }
}
