/** A foldable section of the panel. A folded section is not rendered, and stays folded for the next entry. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'

const chosen = new Map<string, boolean>()

interface SectionProps {
  readonly title: string
  readonly hint?: string | undefined
  readonly isOpen?: boolean
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

export function Section({ title, hint, isOpen = true, actions, children }: SectionProps) {
  const id = useId()
  const [open, setOpen] = useState(chosen.get(title) ?? isOpen)
  const toggle = () => {
    chosen.set(title, !open)
    setOpen(!open)
  }
  return (
    <section class="part" aria-labelledby={`${id}-h`}>
      <div class="part-head">
        <h3 id={`${id}-h`}>
          <button type="button" class="fold" aria-expanded={open} aria-controls={id} onClick={toggle}>
            {title}
            {hint !== undefined && <span class="hint"> {hint}</span>}
          </button>
        </h3>
        {actions}
      </div>
      <div id={id} class="part-body" hidden={!open}>
        {open && children}
      </div>
    </section>
  )
}

/** A smaller foldable section. Its content is rendered when it is first opened. */
export function Fold({
  summary,
  children,
  isOpen = false,
}: {
  readonly summary: ComponentChildren
  readonly children: () => ComponentChildren
  readonly isOpen?: boolean
}) {
  const [open, setOpen] = useState(isOpen)
  return (
    <details class="foldable" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open && children()}
    </details>
  )
}
