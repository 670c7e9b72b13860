/** [loaded first by an application and its worker] A wall clock that is wrong by SKEW_MS. */
const { now } = Date
const skewMs = Number(process.env.SKEW_MS)
Date.now = () => now() + skewMs
