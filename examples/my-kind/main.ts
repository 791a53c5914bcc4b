import { type CacheOptions, cached, control, defineKind, ignoreNotFound, type KindOf, splitKey } from 'riata';
import { ConfigMap, Namespace } from 'riata/kinds';
import { z } from 'zod';

/** Settings that are copied into a ConfigMap in every namespace. */
export const SharedSettings = defineKind({
  group: 'my-kind.riata.dev',
  version: 'v1',
  kind: 'SharedSettings',
  plural: 'sharedsettings',
  spec: z.object({ data: z.record(z.string(), z.string()) }),
  status: z.object({ copies: z.int() }),
});
export interface SharedSettings extends KindOf<typeof SharedSettings> {}

/** Label of every copy: the UID of its source. Owner references do not cross namespaces. */
const copyOf = 'my-kind.riata.dev/copy-of';
/** Annotation of every copy: namespace and name of its source. */
const from = 'my-kind.riata.dev/from';

/** Caches only the copies, not all ConfigMaps of the cluster. */
export const cache: CacheOptions = { kinds: [cached(ConfigMap, { labelSelector: copyOf })] };

/**
 * Keeps a copy in every namespace, including new ones, corrects drift, and deletes the copies before the SharedSettings
 * are deleted. All reads come from the cache, which includes its own writes.
 */
export const sharedSettings = control(SharedSettings)
  .watches(Namespace, async (_, reader) => (await reader.list(SharedSettings)).items.map(({ metadata }) => metadata))
  .watches(ConfigMap, ({ metadata }) => {
    const source = metadata.annotations?.[from];
    return source === undefined ? [] : [splitKey(source)];
  })
  .finalize(async ({ object: settings, client }) => {
    const copies = await client.list(ConfigMap, { labelSelector: `${copyOf}=${settings.metadata.uid}` });
    for (const { metadata } of copies.items) await client.delete(ConfigMap, metadata).catch(ignoreNotFound);
  })
  .reconcile(async ({ object: settings, client, apply, status }) => {
    const { uid, name, namespace: home } = settings.metadata;
    const { items } = await client.list(Namespace);
    const namespaces = items.filter((namespace) => namespace.status?.phase !== 'Terminating');
    for (const { metadata } of namespaces) {
      const labels = { [copyOf]: uid };
      const annotations = { [from]: `${home}/${name}` };
      const place = { namespace: metadata.name, name: `${home}.${name}` };
      await apply(ConfigMap({ metadata: { ...place, labels, annotations }, data: settings.spec.data }), {
        owned: false,
      });
    }
    await status({ copies: namespaces.length });
  });
