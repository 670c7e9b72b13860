/** Whether the window is narrow, by the same limit as the style sheet. Rows then have two lines. */
import { useEffect, useState } from 'preact/hooks'

const narrow = matchMedia('(max-width: 640px)')

export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches)
  useEffect(() => {
    const listener = (): void => setNarrow(narrow.matches)
    narrow.addEventListener('change', listener)
    return () => narrow.removeEventListener('change', listener)
  }, [])
  return isNarrow
}
