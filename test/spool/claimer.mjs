// One of several processes that claim the same folders. Loads `dist`, because it runs as a process.
import { Account } from '../../build/modules/diagnostics/account.js'
import { systemClock } from '../../build/modules/shared/clock.js'
import { Spool } from '../../build/modules/spool/spool.js'

const [, , root, url, apiKey] = process.argv
const quiet = () => {}
const spool = new Spool({
  dir: root,
  maxBytes: 64 * 1024 * 1024,
  maxAgeMs: 3_600_000,
  durability: 'process',
  url,
  apiKey,
  clock: systemClock,
  account: new Account(),
  report: { problem: quiet, note: quiet, dropped: quiet },
  onFound: () => void readAll(),
})
let isReading = false

async function readAll() {
  if (isReading) return
  isReading = true
  while (await spool.recovery.next(({ batchId }) => process.send(batchId)));
  isReading = false
}

// All claimers start together, and none ends before all are done: the folders of an ended claimer may be claimed
// again.
process.once('message', () => spool.start())
process.on('disconnect', () => process.exit(0))
process.send('ready')
