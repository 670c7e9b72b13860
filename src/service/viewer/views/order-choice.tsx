/** Buttons that select the order of a list. The order is part of the address. */
import { navigate, useView } from '../use-view.js'

interface OrderChoiceProps {
  /** Orders; the first is the default. */
  readonly choices: readonly (readonly [sort: string | null, text: string])[]
}

export function OrderChoice({ choices }: OrderChoiceProps) {
  const { sort } = useView()
  const chosen = choices.find(([value]) => value === sort) ?? choices[0]
  return (
    <div role="group" aria-label="Order" class="choice">
      {choices.map((choice) => (
        <button
          key={choice[1]}
          type="button"
          class="button small"
          aria-pressed={choice === chosen}
          onClick={() => navigate({ sort: choice[0] }, { replace: true })}
        >
          {choice[1]}
        </button>
      ))}
    </div>
  )
}
