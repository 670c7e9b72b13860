/** Whether the process emits `exit`: nothing asynchronous will run. Node does not document this property; elsewhere it is missing. */
export function isExiting(): boolean {
  return (process as { readonly _exiting?: unknown })._exiting === true
}
