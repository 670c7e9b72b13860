/** The steps of a spool's model, as data, so that a failing sequence can be shortened. */
import fc from 'fast-check'
import { DAMAGE_KINDS } from './file-damage.js'
import type { Damage } from './file-damage.js'

const KINDS = [
  ...times(9, 'append'),
  ...times(2, 'seal'),
  ...times(2, 'direct'),
  ...times(3, 'spill'),
  ...times(2, 'readBack'),
  ...times(1, 'readBackMeanwhile'),
  ...times(2, 'recoverMeanwhile'),
  ...times(4, 'settle'),
  ...times(2, 'settleSome'),
  ...times(2, 'part'),
  ...times(2, 'reject'),
  ...times(3, 'advance'),
  ...times(5, 'recover'),
  ...times(3, 'crash'),
  ...times(1, 'nestedCrash'),
  ...times(1, 'close'),
] as const
export type Kind = (typeof KINDS)[number]

export interface Step {
  readonly kind: Kind | 'nothing'
  /** The random choices of the step. */
  readonly a: number
  readonly b: number
}

export interface Profile {
  readonly name: string
  readonly batchSize: number
  readonly maxBytes: number
  /** Maximum padding of an entry in bytes. */
  readonly padding: number
}

export interface Sequence {
  readonly profile: Profile
  readonly durability: 'process' | 'power'
  readonly steps: readonly Step[]
}

const MIB = 1024 * 1024
const PROFILES: readonly Profile[] = [
  { name: 'single records', batchSize: 5, maxBytes: 64 * MIB, padding: 60 },
  { name: 'single records', batchSize: 100, maxBytes: 64 * MIB, padding: 200 },
  { name: 'pages', batchSize: 20, maxBytes: 64 * MIB, padding: 2500 },
  { name: 'segments, up to the limit', batchSize: 6, maxBytes: 256 * 1024, padding: 16_000 },
]
const LEAST_STEPS = 30

function times<K extends string>(count: number, kind: K): K[] {
  return Array.from({ length: count }, () => kind)
}

/** Smaller numbers are not simpler, so they are not shortened. */
const NUMBER = fc.noShrink(fc.nat(2 ** 20 - 1))
const STEP = fc
  .tuple(fc.constantFrom<Step['kind'][]>('nothing', ...KINDS), NUMBER, NUMBER)
  .map(([kind, a, b]): Step => ({ kind, a, b }))

export function sequences(durability: Sequence['durability']): fc.Arbitrary<Sequence> {
  return fc.record({
    profile: fc.constantFrom(...PROFILES),
    durability: fc.constant(durability),
    steps: fc.array(STEP, { minLength: LEAST_STEPS, maxLength: LEAST_STEPS + 4 }),
  })
}

/** Readable text: the steps that do something. */
export function formatSequence({ profile, durability, steps }: Sequence): string {
  const reported = steps
    .filter(({ kind }) => kind !== 'nothing')
    .map((step) => {
      const isDeath = step.kind === 'crash' || step.kind === 'close'
      return `{ kind: '${step.kind}', a: ${step.a}, b: ${step.b} },${isDeath ? ` // ${damageOf(step, durability).kind}` : ''}`
    })
  return [`${durability}, ${JSON.stringify(profile)}`, ...reported].join('\n')
}

/** The damage of a step: kind and position. With power failures, every second damage is one. */
export function damageOf(
  { a, b }: Step,
  durability: Sequence['durability'],
): { readonly kind: Damage; readonly pick: readonly [number, number] } {
  const isPowerFailure = durability === 'power' && (b & 1) === 1
  return { kind: isPowerFailure ? 'pages' : (DAMAGE_KINDS[a % DAMAGE_KINDS.length] as Damage), pick: [a >> 4, b >> 1] }
}
