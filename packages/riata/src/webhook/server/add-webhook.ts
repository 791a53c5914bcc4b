import type { Manager } from '../../manager/manager.js';
import { webhooksExtension } from '../../manager/webhook-options.js';
import type { AddedDefinition, WebhookDefinition } from '../webhook-definition.js';
import { WebhookServer } from './webhook-server.js';

/** A webhook that was added to a manager. */
export interface AddedWebhook extends AddedDefinition {
  /** The one server of the manager. */
  readonly server: WebhookServer;
}

/** Serves a webhook by the one server of a manager, which starts with the first. For `WebhookDefinition.addTo`. */
export function addWebhook(manager: Manager, definition: WebhookDefinition): AddedWebhook {
  const server = manager.extension(webhooksExtension, () => {
    const { client, runtime, connection: live, config, options } = manager;
    const parts = { live, namespace: config?.namespace, name: options.leaderElection?.name };
    const made = new WebhookServer({ ...options.webhooks, client, runtime }, parts);
    manager.add(made);
    manager.addReadyzCheck('webhooks', () => made.check());
    return made;
  });
  const served = server.add(definition);
  const hold = ({ readKinds }: WebhookDefinition) => readKinds.map((kind) => manager.cache.use(kind));
  let uses = hold(definition);
  const release = async (held: typeof uses) => void (await Promise.all(held.map((use) => use.release())));
  return {
    server,
    replace: async (next) => {
      const held = hold(next);
      try {
        served.replace(next);
      } catch (error) {
        await release(held);
        throw error;
      }
      const former = uses;
      uses = held;
      await release(former);
    },
    remove: async () => {
      served[Symbol.dispose]();
      await release(uses);
    },
  };
}
