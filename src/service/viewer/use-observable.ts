/** Renders again when an observable changes. */
import { useEffect, useState } from 'preact/hooks'
import type { Observable } from './observable.js'

export function useObservable<T>(observable: Observable<T>): T {
  const [, render] = useState({})
  const { value } = observable
  useEffect(() => {
    const end = observable.subscribe(() => render({}))
    // It may have changed between the first rendering and this.
    if (!Object.is(value, observable.value)) render({})
    return end
  }, [observable])
  return value
}
