import { MongoBulkWriteError, MongoClient, MongoServerError, ObjectId } from 'mongodb'
import { closedPort } from './servers.mjs'

const closed = await closedPort()

export const cases = {
  'server selection': async () => {
    const client = new MongoClient(`mongodb://shop:secret-password@127.0.0.1:${closed}/shop`, { serverSelectionTimeoutMS: 100 })
    try {
      await client.connect()
    } finally {
      await client.close()
    }
  },
  'wrong URL': () => new MongoClient('mongodb://shop:secret-password@'),
  'not connected': async () => {
    const client = new MongoClient(`mongodb://127.0.0.1:${closed}`, { serverSelectionTimeoutMS: 50 })
    await client.close()
    await client.db('shop').collection('orders').findOne({ _id: new ObjectId() })
  },
  // The driver creates these errors from a server's reply.
  'duplicate key': () => {
    throw new MongoServerError({
      ok: 0,
      errmsg: 'E11000 duplicate key error collection: shop.users index: email_1 dup key: { email: "jane@example.com" }',
      code: 11000,
      codeName: 'DuplicateKey',
      keyPattern: { email: 1 },
      keyValue: { email: 'jane@example.com' },
    })
  },
  'bulk write': () => {
    const operation = { _id: new ObjectId(), email: 'jane@example.com', password: 'secret-value' }
    throw new MongoBulkWriteError(
      { message: 'E11000 duplicate key error', code: 11000, writeErrors: [{ code: 11000, index: 0, errmsg: 'E11000', err: { op: operation } }] },
      { insertedCount: 0, matchedCount: 0, modifiedCount: 0, deletedCount: 0, upsertedCount: 0, upsertedIds: {}, insertedIds: {} },
    )
  },
}
