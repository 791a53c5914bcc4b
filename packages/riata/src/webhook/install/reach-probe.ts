import type { Client } from '../../client/interfaces.js';
import { Lease } from '../../kinds/index.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Wake } from '../wake.js';
import { probeLabel, probeName, reachedServer } from './probe-webhook.js';
import type { WebhookSite } from './webhook-site.js';

/** What a {@link ReachProbe} works with. */
export interface ReachProbeParts {
  readonly client: Client;
  readonly site: WebhookSite;
  /** The name that the own server answers probes with. */
  readonly server: string;
  /** Whether the entry for the probe is there for sure. */
  readonly isInstalling: boolean;
  readonly runtime: Runtime;
}

const firstRetryMs = 200;
const longestRetryMs = 10_000;

/**
 * Asks an API server whether it reaches the webhooks, until it does: by a dry run that the probe's entry applies to. The
 * answer proves that the API server knows the configuration, trusts the certificate, and gets through to a replica of
 * this program. Behind a Service, that may be another replica: the first one can't be reached before it is ready, so
 * there an API server that finds the Service without endpoints is enough.
 */
export class ReachProbe {
  readonly #parts: ReachProbeParts;
  readonly #wake: Wake;
  #problem: string | undefined = 'no API server was asked yet whether it reaches the webhooks';

  constructor(parts: ReachProbeParts) {
    this.#parts = parts;
    this.#wake = new Wake(parts.runtime.clock);
  }

  /** Throws until an API server has reached the webhooks. */
  check(): void {
    if (this.#problem !== undefined) throw new Error(this.#problem);
  }

  /** Something has changed: ask again now. */
  wake(): void {
    this.#wake.call();
  }

  /** Asks until a server was reached; then never again: an outage of an API server is no reason to be unready. */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { log } = this.#parts.runtime;
    for (let retryMs = firstRetryMs; !signal.aborted; retryMs = Math.min(retryMs * 2, longestRetryMs)) {
      const found = await this.#ask(signal);
      if (signal.aborted) return;
      this.#problem = 'problem' in found ? found.problem : undefined;
      if ('by' in found) {
        log.info('an API server reaches the webhooks', { isThisReplica: found.by === this.#parts.server });
        return;
      }
      await this.#wake.wait(retryMs, signal);
    }
  }

  async #ask(signal: AbortSignal): Promise<{ readonly by: string } | { readonly problem: string | undefined }> {
    const { client, site, isInstalling, runtime } = this.#parts;
    const { namespace } = site;
    const name = `riata-probe-${runtime.random.int(0, 0xffff_ffff).toString(36)}`;
    const lease = Lease({ metadata: { namespace, name, labels: { [probeLabel]: site.name } }, spec: {} });
    try {
      await client.create(lease, { dryRun: true, maxRetries: 0, signal });
    } catch (error) {
      const by = reachedServer(error);
      if (by !== undefined) return { by };
      if (site.isBehindService && hasNoEndpoints(error)) return { problem: undefined };
      return { problem: `the API server does not reach the webhooks: ${describeError(error)}` };
    }
    // Manifests may leave it out.
    if (!isInstalling) return { by: '' };
    return { problem: 'the API server does not call the webhooks yet' };
  }
}

/** kube-proxy refuses connections to a Service without ready endpoints; API servers that look for endpoints say so. */
function hasNoEndpoints(error: unknown): boolean {
  const text = describeError(error);
  return text.includes(probeName) && /connection refused|no endpoints available/.test(text);
}
