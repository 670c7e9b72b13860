/** The logo, and the tab's icon. */
const PATH = 'M9 1 4.4 6.8h2L3.2 10.9h2.3L1.8 15h6.1v2.2h2.2V15h6.1l-3.7-4.1h2.3l-3.2-4.1h2Z'

export function Logo() {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="currentColor">
      <path d={PATH} />
    </svg>
  )
}

/** An icon for the tab; with a dot if there is something to look at. */
export function createIcon(isMarked: boolean): string {
  const dot = isMarked ? '<circle cx="14" cy="4" r="4" fill="#dc4a3d"/>' : ''
  const tree = `<path fill="#0a6b50" d="${PATH}"/>`
  return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 18">${tree}${dot}</svg>`)}`
}
