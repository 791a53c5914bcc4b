import { Buffer } from 'node:buffer';
import type { TestEnvironment } from '@riata/testing';
import type { KindRef } from 'riata/object';
import { addWebhook, type WebhookDefinition, type WebhookTarget } from 'riata/webhook';
import { until } from './servers.js';

/** The parts of an admission request that these tests look at. */
export interface Review {
  readonly uid: string;
  readonly operation: string;
  readonly namespace?: string;
  readonly object?: { readonly metadata: { readonly name?: string }; readonly data?: Readonly<Record<string, string>> };
}

/** An answer to a {@link Review}; allowed by default. */
export interface Verdict {
  readonly message?: string;
  readonly warnings?: readonly string[];
  readonly patch?: readonly object[];
}

export interface PlayOptions {
  readonly type?: 'validating' | 'mutating';
  readonly kind: KindRef;
  readonly namespace: string;
  readonly operations?: readonly string[];
  readonly timeoutSeconds?: number;
}

/** A webhook for one kind in one namespace, with plain handlers: what is around them is tested here. */
export function reviewing(
  name: string,
  { type = 'validating', kind, namespace, operations = ['CREATE'], timeoutSeconds = 10 }: PlayOptions,
  decide: (review: Review) => Verdict | Promise<Verdict>,
): WebhookDefinition {
  const path = `/${name}`;
  const webhook = {
    name: `${name}.play.riata.dev`,
    rules: [
      { apiGroups: [kind.group], apiVersions: [kind.version], resources: [kind.plural], operations: [...operations] },
    ],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds,
  };
  const definition: WebhookDefinition = {
    name,
    readKinds: [],
    targets: [{ type, path, webhook } as WebhookTarget],
    addTo: (manager) => addWebhook(manager, definition),
    bind: ({ record, runtime }) => [
      {
        path,
        async answer({ body }) {
          const startedAt = runtime.clock.now();
          const { request } = JSON.parse(Buffer.from(body).toString()) as { readonly request: Review };
          const { message, warnings, patch } = await decide(request);
          record({
            ...{ webhook: name, path, operation: request.operation, user: undefined, dryRun: false, startedAt },
            object: { apiVersion: 'v1', kind: kind.kind, name: request.object?.metadata.name ?? '' },
            ...{ durationMs: 0, outcome: message === undefined ? 'allowed' : 'denied', details: [] },
          });
          const response = {
            uid: request.uid,
            allowed: message === undefined,
            ...(message !== undefined && { status: { code: 422, message } }),
            ...(warnings && { warnings }),
            ...(patch && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
          };
          const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
          return { status: 200, body: JSON.stringify(review) };
        },
      },
    ],
  };
  return definition;
}

/** Options for a server of webhooks that API servers on this machine reach. */
export function onLoopback(name: string, namespace: string) {
  return { name, namespace, host: '127.0.0.1', port: 0 } as const;
}

/** Starts a manager with webhooks, and waits until an API server reaches them. */
export async function startGuarded(
  server: TestEnvironment,
  webhooks: NonNullable<NonNullable<Parameters<TestEnvironment['startManager']>[0]>['webhooks']>,
  run: readonly WebhookDefinition[],
) {
  const started = await server.startManager({ webhooks, run, health: { host: '127.0.0.1', port: 0 } });
  await ready(() => started.manager.urls['health probes']);
  return started;
}

/** Waits until `/readyz` of a manager says yes. */
export async function ready(url: () => string | undefined): Promise<void> {
  await until('it is ready', async () => {
    const base = url();
    return base !== undefined && (await fetch(`${base}/readyz`)).ok;
  });
}
