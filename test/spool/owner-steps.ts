/** The steps of the two-owner model, as data. */
import fc from 'fast-check'
import { FAULTS } from './model-disk.js'
import type { Fault } from './model-disk.js'

const KINDS = [
  ...times(9, 'append'),
  ...times(2, 'seal'),
  ...times(2, 'spill'),
  ...times(2, 'readBack'),
  ...times(5, 'send'),
  ...times(1, 'loseReply'),
  ...times(2, 'part'),
  ...times(1, 'reject'),
  ...times(4, 'recover'),
  ...times(6, 'advance'),
  ...times(3, 'fault'),
  ...times(1, 'setClock'),
  ...times(2, 'stop'),
  ...times(1, 'continue'),
  ...times(1, 'unlink'),
  ...times(2, 'kill'),
  ...times(1, 'close'),
] as const

export interface OwnerStep {
  readonly kind: (typeof KINDS)[number] | 'nothing'
  readonly who: 0 | 1
  readonly a: number
  readonly b: number
}

export const PAUSES_MS = [1, 200, 2_500, 5_000, 16_000, 31_000, 61_000, 91_000] as const
/** Errors of a wall clock. */
export const SKEWS_MS = [0, 35_000, -35_000, 7_200_000, -7_200_000] as const

export function chooseFault(choice: number): Fault {
  return FAULTS[choice % FAULTS.length] as Fault
}

function times<K extends string>(count: number, kind: K): K[] {
  return Array.from({ length: count }, () => kind)
}

const NUMBER = fc.noShrink(fc.nat(2 ** 20 - 1))
const STEP = fc
  .tuple(
    fc.constantFrom<OwnerStep['kind'][]>('nothing', ...KINDS),
    fc.constantFrom<OwnerStep['who'][]>(0, 1),
    NUMBER,
    NUMBER,
  )
  .map(([kind, who, a, b]): OwnerStep => ({ kind, who, a, b }))
const STEPS = 32

export const OWNER_SEQUENCES: fc.Arbitrary<readonly OwnerStep[]> = fc.array(STEP, {
  minLength: STEPS,
  maxLength: STEPS + 4,
})

/** The steps as readable text, without those that do nothing. */
export function formatOwnerSteps(steps: readonly OwnerStep[]): string {
  return steps
    .filter(({ kind }) => kind !== 'nothing')
    .map(({ kind, who, a, b }) => {
      const meaning =
        kind === 'advance'
          ? ` // ${PAUSES_MS[a % PAUSES_MS.length]} ms`
          : kind === 'fault'
            ? ` // ${chooseFault(a)}, ${1 + (b % 20_000)} ms`
            : kind === 'kill' || kind === 'close'
              ? ` // then ${a % 2 === 0 ? 'a namespace' : 'another'}, ${SKEWS_MS[b % SKEWS_MS.length]} ms`
              : ''
      return `{ kind: '${kind}', who: ${who}, a: ${a}, b: ${b} },${meaning}`
    })
    .join('\n')
}
