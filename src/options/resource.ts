/** Facts about the process that OpenTelemetry and Kubernetes put into its environment. */
import type { JsonObject } from '../protocol/log-entry.js'
import type { Env } from './ci.js'
import { formatValue } from './format-value.js'

export const RESOURCE_VARIABLE = 'OTEL_RESOURCE_ATTRIBUTES'

export interface Resource {
  readonly service?: string | undefined
  readonly version?: string | undefined
  readonly environment?: string | undefined
  /** The other attributes, under their own names. */
  readonly metadata: JsonObject
}

/**
 * Attributes of OpenTelemetry's semantic conventions, and variables that are usual for them in Kubernetes' documentation of the downward
 * API. `K8S_POD_NAME` and the like always count; the usual ones only within Kubernetes, since Jenkins sets `NODE_NAME`.
 */
const KUBERNETES = [
  ['k8s.pod.name', 'POD_NAME'],
  ['k8s.pod.uid', 'POD_UID'],
  ['k8s.namespace.name', 'POD_NAMESPACE'],
  ['k8s.node.name', 'NODE_NAME'],
  ['k8s.container.name', 'CONTAINER_NAME'],
] as const

export function readResource(env: Env): Resource {
  const parsed = parseAttributes(env[RESOURCE_VARIABLE] ?? '')
  const {
    'service.name': service,
    'service.version': version,
    'deployment.environment': formerEnvironment,
    'deployment.environment.name': environment = formerEnvironment,
    ...others
  } = typeof parsed === 'string' ? {} : parsed
  return {
    service: nonEmpty(service),
    version: nonEmpty(version),
    environment: nonEmpty(environment),
    metadata: { ...readKubernetes(env), ...others },
  }
}

/** @returns why the variable is ignored; undefined if it is valid, or not set */
export function findResourceProblem(env: Env): string | undefined {
  const parsed = parseAttributes(env[RESOURCE_VARIABLE] ?? '')
  return typeof parsed === 'string' ? parsed : undefined
}

/**
 * One malformed attribute discards the whole variable.
 * @returns the attributes, or what is wrong
 * @see https://opentelemetry.io/docs/specs/otel/resource/sdk/#specifying-resource-information-via-an-environment-variable
 */
function parseAttributes(text: string): Readonly<Record<string, string>> | string {
  const pairs: [string, string][] = []
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [name = '', value, ...rest] = part.split('=').map((one) => one.trim())
    if (name === '' || value === undefined || rest.length > 0)
      return `${formatValue(part.trim())} is not key=value (a comma or = within is written %2C or %3D)`
    try {
      pairs.push([decodeURIComponent(name), decodeURIComponent(value)])
    } catch {
      return `${formatValue(part.trim())} is not percent-encoded UTF-8 (a % within is written %25)`
    }
  }
  return Object.fromEntries(pairs)
}

function readKubernetes(env: Env): JsonObject {
  const isWithin = nonEmpty(env['KUBERNETES_SERVICE_HOST']) !== undefined
  return Object.fromEntries(
    KUBERNETES.flatMap(([attribute, usual]) => {
      const own = attribute.toUpperCase().replaceAll('.', '_')
      const value = nonEmpty(env[own]) ?? (isWithin ? nonEmpty(env[usual]) : undefined)
      return value === undefined ? [] : [[attribute, value]]
    }),
  )
}

export function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
