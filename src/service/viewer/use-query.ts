/** Provides an API reply as state, and keeps it during reloads. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get } from './api.js'
import type { Parameters } from './api.js'
import { access } from './access-token.js'
import { useObservable } from './use-observable.js'

export interface Query<T> {
  readonly data: T | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
}

const REST_FACTOR = 3

interface CurrentQuery<T> extends Query<T> {
  /** False while the data belong to previous parameters. */
  readonly isCurrent: boolean
}

/**
 * Requests data from the API. Previous data stay during reloads and while the service is unreachable, but not after an error reply.
 * A new path or new parameters abort the pending request. A new `version` does not: otherwise a slow reply would never arrive while
 * entries stream in. The request is repeated afterwards instead, after a rest of three times its duration, because the service computes one
 * reply at a time. A null `path` sends no request.
 */
export function useQuery<T>(path: string | null, parameters: Parameters = {}, version?: unknown): CurrentQuery<T> {
  const [state, setState] = useState<Query<T>>({ data: undefined, error: undefined, isLoading: path !== null })
  const { token } = useObservable(access)
  const key = JSON.stringify([path, parameters])
  const load = useRef<() => void>(() => {})
  const dataKey = useRef<string | null>(null)

  useEffect(() => {
    if (path === null) {
      load.current = () => {}
      setState({ data: undefined, error: undefined, isLoading: false })
      return undefined
    }
    const controller = new AbortController()
    let isUnderWay = false
    let isOutdated = false
    load.current = async () => {
      isOutdated = isUnderWay
      if (isUnderWay) return
      isUnderWay = true
      const startMs = performance.now()
      setState(({ data, error }) => ({ data, error, isLoading: true }))
      const next = await get<T>(path, parameters, controller.signal).then(
        (data): Query<T> => ({ data, error: undefined, isLoading: false }),
        (error: unknown): Query<T> => ({ data: undefined, error: error as Error, isLoading: false }),
      )
      if (controller.signal.aborted) return
      const isUnreachable = next.error !== undefined && !(next.error instanceof ApiError)
      const keeps = isUnreachable && dataKey.current === key
      if (!keeps) dataKey.current = key
      setState(({ data }) => (keeps ? { ...next, data } : next))
      const endRest = (): void => {
        isUnderWay = false
        if (isOutdated && !controller.signal.aborted) load.current()
      }
      setTimeout(endRest, isUnreachable ? 0 : REST_FACTOR * (performance.now() - startMs))
    }
    load.current()
    return () => controller.abort()
    // `key` represents path and parameters.
  }, [key, token])

  const seen = useRef(version)
  useEffect(() => {
    if (seen.current === version) return
    seen.current = version
    load.current()
  }, [version])

  return { ...state, isCurrent: dataKey.current === key }
}
