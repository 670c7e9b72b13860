/** Renders the component when an observable changes. */
import { useEffect, useState } from 'preact/hooks'
import type { Observable } from './observable.js'

export function useObservable<T>(observable: Observable<T>): T {
  const [, render] = useState({})
  const { value } = observable
  useEffect(() => {
    const end = observable.subscribe(() => render({}))
    // The value may have changed between the first render and this effect.
    if (!Object.is(value, observable.value)) render({})
    return end
  }, [observable])
  return value
}
