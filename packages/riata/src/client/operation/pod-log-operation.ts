import { Pod } from '../../kinds/generated/groups/core/v1.js';
import { type CallOptions, callOptionNames } from '../options.js';
import type { Operation } from './operation.js';

/** The part of a container's log to read (`v1.PodLogOptions`). */
export interface PodLogOptions extends CallOptions {
  /** @default the Pod's only container */
  readonly container?: string;
  /** Go on with what the container writes from now on, until it ends. @default false */
  readonly follow?: boolean;
  /** The log of the container's run before this one. @default false */
  readonly previous?: boolean;
  readonly sinceSeconds?: number;
  /** RFC 3339. */
  readonly sinceTime?: string;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  /** A time before each line. @default false */
  readonly timestamps?: boolean;
  /** Do not check the certificate of the node that the log comes from. @default false */
  readonly insecureSkipTLSVerifyBackend?: boolean;
  /** @default 'All' */
  readonly stream?: 'All' | 'Stdout' | 'Stderr';
}

export const podLogOptionNames = callOptionNames.and<PodLogOptions>({
  container: true,
  follow: true,
  previous: true,
  sinceSeconds: true,
  sinceTime: true,
  tailLines: true,
  limitBytes: true,
  timestamps: true,
  insecureSkipTLSVerifyBackend: true,
  stream: true,
});

export function podLogOperation(
  pod: { readonly namespace?: string; readonly name: string },
  { signal, maxRetries, span, ...options }: PodLogOptions,
): Operation<'connect'> {
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(options)) if (value !== undefined) params[name] = String(value);
  const { namespace, name } = pod;
  // A followed log may be silent for as long as its container is.
  const limits = options.follow ? { headersTimeoutMs: 0, idleTimeoutMs: 0 } : {};
  const call = { signal, maxRetries, span };
  return { verb: 'connect', kind: Pod, namespace, name, subresource: 'log', params, ...limits, ...call };
}
