import type { ConnectedClient, WriteObject } from 'riata/client';
import { EndpointSlice, MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from 'riata/kinds';
import type { Scheduler } from 'riata/runtime';
import type { RolloutProblem } from './rollout-problem.js';

/** What {@link waitForWebhooks} takes. */
export interface WaitForWebhooksOptions {
  readonly timeoutMs: number;
  readonly clock: Scheduler;
  readonly signal: AbortSignal;
}

/**
 * Waits until the API server can call all webhooks of configurations: each has a certificate to trust, and its Service a
 * ready Pod. Resolves to what is missing after the timeout.
 */
export async function waitForWebhooks(
  client: ConnectedClient,
  configurations: readonly WriteObject[],
  { timeoutMs, clock, signal }: WaitForWebhooksOptions,
): Promise<RolloutProblem[]> {
  const end = clock.monotonic() + timeoutMs;
  for (;;) {
    const problems: RolloutProblem[] = [];
    for (const { kind, metadata } of configurations) {
      problems.push(...(await webhookProblems(client, kind, metadata.name ?? '', signal)));
    }
    if (problems.length === 0 || clock.monotonic() >= end) return problems;
    await clock.sleep(1_000, { signal });
  }
}

async function webhookProblems(
  client: ConnectedClient,
  kind: string,
  name: string,
  signal: AbortSignal,
): Promise<RolloutProblem[]> {
  const isValidating = kind === 'ValidatingWebhookConfiguration';
  const found = isValidating
    ? await client.find(ValidatingWebhookConfiguration, { name }, { signal })
    : await client.find(MutatingWebhookConfiguration, { name }, { signal });
  const problems: RolloutProblem[] = [];
  for (const { name: webhook, clientConfig } of found?.webhooks ?? []) {
    const problem = { type: 'webhook' as const, object: `${kind} ${name}`, mayPass: true };
    if (!clientConfig.caBundle) {
      const message = `webhook ${webhook} has no caBundle, so that API servers cannot trust it`;
      problems.push({
        ...problem,
        message,
        remedy: "the operator or cert-manager writes it; see the operator's log, or the Certificate",
      });
      continue;
    }
    const { service } = clientConfig;
    if (service === undefined || (await hasReadyEndpoint(client, service, signal))) continue;
    const message = `webhook ${webhook} is unreachable: the Service ${service.namespace}/${service.name} has no ready Pod`;
    problems.push({
      ...problem,
      message,
      remedy: 'check that its selector matches the Pods of the operator, and that they are ready',
    });
  }
  return problems;
}

async function hasReadyEndpoint(
  client: ConnectedClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { items } = await client.list(EndpointSlice, {
    namespace,
    labelSelector: { 'kubernetes.io/service-name': name },
    signal,
  });
  return items.some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready !== false));
}
