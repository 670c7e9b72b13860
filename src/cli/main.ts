#!/usr/bin/env node
/** The program `pino-ingest`. */
import { runCommandLine } from './run-command-line.js'
import { EXIT_FAILED } from './shared/command.js'

// The reader has closed the pipe (`| head`). The process continues.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
// No `process.exit()`, since output to a pipe may not be flushed yet. If the event loop empties before the command ends, the command has failed.
process.exitCode = EXIT_FAILED
void runCommandLine(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
