/** Prints the results of the demo. */

export function say(line) {
  console.log(line)
}

export function printReport({ logged, arrived, copies, twice, killed, publishedAfterMs, arrivedAfterMs, pausedMs }) {
  const number = (value) => Math.round(value).toLocaleString('en')
  const after = (ms) => `after ${number(ms / 1000)} s, ${number(logged / (ms / 1000))} entries per second`
  const known = twice.filter((id) => killed.includes(id)).length
  say('')
  say(`  logged      ${number(logged)}`)
  say(`  arrived     ${number(arrived)}`)
  say(`  lost        ${number(logged - arrived)}`)
  say(
    `  came twice  ${number(copies)}, in ${known} batches that the killed forwarder had in flight, and ${twice.length - known} others`,
  )
  say(`  published   ${after(publishedAfterMs)}; paused for ${(pausedMs / 1000).toFixed(1)} s`)
  say(`  delivered   ${after(arrivedAfterMs)}`)
}

/** Descriptions of failed expectations. */
export function problemsOf({ logged, arrived, twice, killed }) {
  const lost = logged - arrived
  const others = twice.filter((id) => !killed.includes(id))
  return [
    ...(lost === 0 ? [] : [`${lost} entries did not arrive`]),
    ...(others.length === 0
      ? []
      : [`came twice, and the killed forwarder did not have them in flight: ${others.join(', ')}`]),
  ]
}
