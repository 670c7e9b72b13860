/** The errors are constructed as the client does; the real engine would have to be downloaded. */
import { PrismaClientInitializationError, PrismaClientKnownRequestError, PrismaClientUnknownRequestError, PrismaClientValidationError } from '@prisma/client/runtime/client'

const clientVersion = '7.10.0'

export const cases = {
  'unique constraint': () => {
    throw new PrismaClientKnownRequestError('\nInvalid `prisma.user.create()` invocation:\n\n\nUnique constraint failed on the fields: (`email`)', {
      code: 'P2002',
      clientVersion,
      meta: { modelName: 'User', target: ['email'] },
    })
  },
  validation: () => {
    throw new PrismaClientValidationError('\nInvalid `prisma.user.create()` invocation:\n\nArgument `email` is missing.', { clientVersion })
  },
  initialization: () => {
    throw new PrismaClientInitializationError("Can't reach database server at `db:5432`", clientVersion, 'P1001')
  },
  unknown: () => {
    throw new PrismaClientUnknownRequestError('Inconsistent column data', { clientVersion })
  },
}
