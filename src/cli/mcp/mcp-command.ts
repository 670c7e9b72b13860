/** `pino-ingest mcp`: answers questions of an assistant about the entries of the local service, over the Model Context Protocol on stdio. */
import { once } from 'node:events'
import type * as Mcp from '@modelcontextprotocol/server'
import type * as McpStdio from '@modelcontextprotocol/server/stdio'
import { VERSION } from '../../version.js'
import { findOrigin, TOKEN_NOTE, URL_FLAG, useLocalService } from '../local/local-service.js'
import { CommandError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { SELECTION, TOOLS } from './tools.js'

const PACKAGE = '@modelcontextprotocol/server'

export const mcpCommand: Command = {
  examples: [['npx pino-ingest mcp', 'the command for the configuration of an assistant']],
  flags: URL_FLAG,
  notes: [
    `Tools: ${Object.keys(TOOLS).join(', ')}. They read, and change nothing.`,
    `It needs the package ${PACKAGE}, which is not installed with pino-ingest. Without an installation of both:
npx -y -p pino-ingest -p ${PACKAGE} pino-ingest mcp`,
    `${TOKEN_NOTE} The local service may be started later.`,
    'Exit codes: 0 the assistant has closed stdin; 1 the package cannot be loaded; 2 invalid flags.',
  ],
  run,
}

async function run(given: Arguments): Promise<number> {
  const origin = findOrigin(given)
  const { McpServer, fromJsonSchema, StdioServerTransport } = await loadPackage()
  const server = new McpServer({ name: 'pino-ingest', version: VERSION })
  for (const [name, { description, properties, call }] of Object.entries(TOOLS)) {
    const inputSchema = fromJsonSchema<Readonly<Record<string, string | number>>>({
      type: 'object',
      properties,
      required: Object.keys(properties).filter((property) => !(property in SELECTION)),
      additionalProperties: false,
    })
    const annotations = { readOnlyHint: true, openWorldHint: false }
    server.registerTool(name, { description, inputSchema, annotations }, async (args) => {
      const text = await useLocalService(origin, undefined, (service) => call(service, args))
      return { content: [{ type: 'text', text }] }
    })
  }
  const ended = once(process.stdin, 'end')
  await server.connect(new StdioServerTransport())
  await ended
  await server.close()
  return EXIT_DONE
}

/** Not installed with this package, since no application needs it. @throws CommandError */
async function loadPackage(): Promise<typeof Mcp & typeof McpStdio> {
  try {
    return {
      ...(await import('@modelcontextprotocol/server')),
      ...(await import('@modelcontextprotocol/server/stdio')),
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isMissing = code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND'
    const reason = isMissing ? 'is not installed' : `cannot be loaded (${message})`
    throw new CommandError(
      'PACKAGE',
      `mcp needs ${PACKAGE}, which ${reason}; install: npm install --save-dev ${PACKAGE}`,
      EXIT_FAILED,
    )
  }
}
