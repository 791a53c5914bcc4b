import { afterAll, beforeAll } from 'vitest';
import { configMap, configMaps, namespace, namespaces, post, remove } from './asks.js';
import type { Pair, Step } from './pair.js';
import { type Hooks, startWebhooks, type WebhookServer } from './webhook-server.js';

export const registration = '/apis/admissionregistration.k8s.io/v1';

/** What a webhook of a play is, beside its client; `at` is the path of its handler. */
export interface Hook {
  readonly at?: string;
  readonly name?: string;
  readonly [field: string]: unknown;
}

const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' };

/** The webhooks of a file of plays, and the configurations that have to go with them. */
export class WebhookPlays {
  readonly #pair: () => Pair;
  #server: WebhookServer | undefined;
  readonly #made: string[] = [];

  constructor(pair: () => Pair, hooks: Hooks) {
    this.#pair = pair;
    beforeAll(async () => {
      this.#server = await startWebhooks({ '/deny': () => ({ response: { allowed: false } }), ...hooks });
    });
    afterAll(async () => {
      for (const path of this.#made) await this.#pair().both(remove(path));
      await this.#server?.close();
    });
  }

  get server(): WebhookServer {
    if (this.#server === undefined) throw new Error('the webhooks have not been started yet');
    return this.#server;
  }

  /** Makes the namespace that a play takes place in: its webhooks are for this one alone. */
  place(ns: string): Step {
    return post(namespaces, { ...namespace(ns), metadata: { name: ns, labels: { play: ns } } });
  }

  /** A configuration; its webhooks mean the namespace of the play alone, unless they say otherwise. */
  configuration(kind: 'Mutating' | 'Validating', name: string, ns: string, hooks: readonly Hook[]): object {
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name },
      webhooks: hooks.map(({ at = '/deny', ...hook }, index) => ({
        name: `h${index}.${name}.example.com`,
        clientConfig: this.server.client(at),
        namespaceSelector: { matchLabels: { play: ns } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [everything],
        ...hook,
      })),
    };
  }

  /** Configures webhooks and waits until they are called. */
  configure(kind: 'Mutating' | 'Validating', name: string, ns: string, hooks: readonly Hook[]): Step[] {
    const path = `${registration}/${kind.toLowerCase()}webhookconfigurations`;
    this.#made.push(`${path}/${name}`);
    const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
    const matchConditions = [{ name: 'probe', expression: `object.metadata.name == 'probe-${name}'` }];
    const probe = { rules, matchConditions, name: `probe.${name}.example.com` };
    return [
      // The real server hears of it a moment later.
      post(path, this.configuration(kind, name, ns, [...hooks, probe]), { silent: true }),
      post(`${configMaps(ns)}?dryRun=All`, configMap(`probe-${name}`), {
        silent: true,
        until: ({ body }) => String(body?.message).includes('webhook'),
      }),
    ];
  }

  /** Removes webhooks, and waits until they are no longer called. */
  forget(kind: 'Mutating' | 'Validating', name: string, ns: string): Step[] {
    return [
      remove(`${registration}/${kind.toLowerCase()}webhookconfigurations/${name}`, undefined, { silent: true }),
      post(`${configMaps(ns)}?dryRun=All`, configMap(`probe-${name}`), {
        silent: true,
        until: ({ body }) => !String(body?.message).includes('webhook'),
      }),
    ];
  }
}
