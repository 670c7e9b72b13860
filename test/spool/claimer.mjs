// One of several processes that claim the same folders. Stands on `dist`, since it is a process of its own.
import { Account } from '../../dist/esm/account.js'
import { systemClock } from '../../dist/esm/clock.js'
import { Spool } from '../../dist/esm/spool/spool.js'

const [, , root, url, apiKey] = process.argv
const quiet = () => {}
const spool = new Spool({
  dir: root, maxBytes: 64 * 1024 * 1024, maxAgeMs: 3_600_000, durability: 'process', url, apiKey,
  clock: systemClock, account: new Account(), tell: { problem: quiet, note: quiet, dropped: quiet }, onFound: quiet,
})

// All begin at once, and none ends before all are done: the dead may be claimed.
process.once('message', async () => {
  spool.start()
  const ids = []
  while (await spool.recovery.next(({ batchId }) => ids.push(batchId)));
  process.send(ids)
})
process.on('disconnect', () => process.exit(0))
process.send('ready')
