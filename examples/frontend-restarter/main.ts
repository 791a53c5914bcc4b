import { createHash } from 'node:crypto';
import { ignoreNotFound, type ObjectKey } from 'riata';
import { ConfigMap, Pod } from 'riata/kinds';
import type { HandlerRegistration, SharedControllerFactory } from 'riata/shared';

/** An annotation of the ConfigMap: of the data that the Pods were last restarted for. */
const handled = 'frontend-restarter.riata.dev/handled';

/**
 * Restarts the Pods labelled `app=frontend` of its namespace when a ConfigMap changes, by deleting them: their Deployment
 * starts them anew, and they read the new data. What was handled stands on the ConfigMap itself, so a restart of this
 * program restarts no Pod, and a change that came while it was down is not missed. A handler like this one is added to
 * the ConfigMap's controller beside those of others, which lasso calls shared: they have one watch and one queue.
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
      // Seen for the first time: Pods that run have read it as it is.
      if (last !== undefined) {
        const { items } = await pods.list({ namespace, labelSelector: 'app=frontend' });
        for (const { metadata } of items) await pods.delete(metadata).catch(ignoreNotFound);
        log.info('restarted', { pods: items.length });
      }
      // Last: if this program ends before, the Pods are restarted once more rather than not at all.
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
