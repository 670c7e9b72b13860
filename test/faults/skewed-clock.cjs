/** [preloaded by an application and its worker] Shifts the wall clock by SKEW_MS. */
const { now } = Date
const skewMs = Number(process.env.SKEW_MS)
Date.now = () => now() + skewMs
