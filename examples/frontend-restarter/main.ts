import { createHash } from 'node:crypto';
import { ignoreNotFound, type ObjectKey } from 'riata';
import { ConfigMap, Pod } from 'riata/kinds';
import type { HandlerRegistration, SharedControllerFactory } from 'riata/shared';

/** Annotation of the ConfigMap: the hash of the data that the Pods were last restarted for. */
const handled = 'frontend-restarter.riata.dev/handled';

/**
 * Restarts the Pods labelled `app=frontend` in its namespace when a ConfigMap changes, by deleting them: their Deployment
 * replaces them, and they read the new data. The ConfigMap records what was handled, so a restart of this program restarts
 * no Pod, and no change is missed while it is down. The handler is registered on the shared controller of ConfigMaps, as
 * in lasso: all handlers of a kind have one watch and one queue.
 */
export function restartFrontends(
  factory: SharedControllerFactory,
  { namespace, name }: Required<ObjectKey>,
  options: { readonly signal: AbortSignal },
): HandlerRegistration {
  const pods = factory.clients.forKind(Pod).boundTo(options.signal);

  return factory.forKind(ConfigMap).registerHandler(
    'frontend-restarter',
    async (key, config, { client, log }) => {
      if (config === undefined || key !== `${namespace}/${name}`) return;
      const hash = hashOf(config);
      const last = config.metadata.annotations?.[handled];
      if (last === hash) return;
      // Seen for the first time: running Pods have read the current data.
      if (last !== undefined) {
        const { items } = await pods.list({ namespace, labelSelector: 'app=frontend' });
        for (const { metadata } of items) await pods.delete(metadata).catch(ignoreNotFound);
        log.info('restarted', { pods: items.length });
      }
      // Written last: if this program dies before, the Pods are restarted once more rather than not at all.
      const annotations = { [handled]: hash };
      return client.patch(config.metadata, { type: 'merge', body: { metadata: { annotations } } });
    },
    options,
  );
}

function hashOf({ data = {}, binaryData = {} }: ConfigMap): string {
  const sorted = (map: Readonly<Record<string, string>>) => Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([sorted(data), sorted(binaryData)]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
