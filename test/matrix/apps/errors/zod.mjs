import { z } from 'zod'
import { z as z3 } from 'zod3'

const shape = (lib) => lib.object({ email: lib.string().email(), password: lib.string().min(20), items: lib.array(lib.object({ count: lib.number().int() })) })
const value = { email: 'jane', password: 'secret-password', items: Array.from({ length: 20 }, () => ({ count: 'x' })) }

export const cases = {
  'zod 4': () => shape(z).parse(value),
  'zod 3': () => shape(z3).parse(value),
}
