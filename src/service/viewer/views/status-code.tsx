/** An HTTP status, colored by its class. */
export function StatusCode({ code }: { readonly code: number }) {
  return <span class={`status ${code >= 500 ? 'bad' : code >= 400 ? 'odd' : 'good'}`}>{code}</span>
}
