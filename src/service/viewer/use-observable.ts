/** Renders again when an observable changes. */
import { useEffect, useState } from 'preact/hooks'
import type { Observable } from './observable.js'

export function useObservable<T>(observable: Observable<T>): T {
  const [, render] = useState({})
  // It may have changed between the first rendering and this.
  useEffect(() => {
    const seen = observable.value
    const end = observable.subscribe(() => render({}))
    if (!Object.is(seen, observable.value)) render({})
    return end
  }, [observable])
  return observable.value
}
