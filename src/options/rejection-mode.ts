/** [main] Node's option `--unhandled-rejections`. */

const NODE_OPTION = '--unhandled-rejections'

/** The value of Node's option, which the command line sets before the environment. */
export function findRejectionMode(): string {
  const args = [...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/), ...process.execArgv]
  let mode = 'throw'
  for (const [index, arg] of args.entries()) {
    if (arg === NODE_OPTION) mode = args[index + 1] ?? mode
    else if (arg.startsWith(`${NODE_OPTION}=`)) mode = arg.slice(NODE_OPTION.length + 1)
  }
  return mode
}
