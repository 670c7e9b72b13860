/** Dispatches keyboard commands to mounted components. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { findCommand } from './keyboard.js'
import type { Command, KeyContext } from './keyboard.js'

type Commands = Partial<Record<Command, () => void>>

const parts: { readonly current: Commands }[] = []

export function useCommands(commands: Commands): void {
  const part = useRef(commands)
  part.current = commands
  // A key can be pressed as soon as the component is visible.
  useLayoutEffect(() => {
    parts.unshift(part)
    return () => {
      parts.splice(parts.indexOf(part), 1)
    }
  }, [])
}

export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return
    // An open dialog or panel handles all keys.
    if (document.querySelector('dialog[open], .popup:popover-open') !== null) return
    const target = event.target instanceof HTMLElement ? event.target : document.body
    const place = placeOf(target)
    if (event.key === 'Escape' && place === 'field') return target.blur()
    const command = findCommand(event, place)
    const run =
      command === undefined ? undefined : parts.find(({ current }) => current[command] !== undefined)?.current[command]
    if (run === undefined) return
    event.preventDefault()
    run()
  })
}

function placeOf(target: HTMLElement): KeyContext {
  if (target.isContentEditable || target.matches('input, textarea, select')) return 'field'
  if (target.matches('button')) return 'control'
  return target === document.body || target.closest('[data-keys="page"]') !== null ? 'page' : 'control'
}
