/** Prints the results of the demo. */

export function say(line) {
  console.log(line)
}

export function printReport({ logged, arrived, copies, twice, publishedAfterMs, arrivedAfterMs, pausedMs }) {
  const number = (value) => Math.round(value).toLocaleString('en')
  const rate = (ms) => `${number(logged / (ms / 1000))} a second`
  say('')
  say(`  logged      ${number(logged)}`)
  say(`  arrived     ${number(arrived)}`)
  say(`  lost        ${number(logged - arrived)}`)
  say(`  came twice  ${number(copies)}${copies > 0 ? `, in ${twice.length} batches: ${twice.join(', ')}` : ''}`)
  say(
    `  published   after ${number(publishedAfterMs / 1000)} s, ${rate(publishedAfterMs)}; paused for ${(pausedMs / 1000).toFixed(1)} s`,
  )
  say(`  delivered   after ${number(arrivedAfterMs / 1000)} s, ${rate(arrivedAfterMs)}`)
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
