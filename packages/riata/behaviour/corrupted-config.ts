import type { JsonObject } from 'riata/object';
import type { Random } from 'riata/runtime';

/** A configuration that is not quite one. */
export function corruptedConfig(random: Random, config: JsonObject): JsonObject {
  const metadata = config.metadata as JsonObject;
  const spec = (config.spec ?? {}) as JsonObject;
  return random.pick<() => JsonObject>([
    () => ({ ...config, metadata: { ...metadata, managedFields: [] } }),
    () => ({ ...config, metadata: { ...metadata, labels: null } }),
    () => ({ ...config, metadata: { ...metadata, annotations: { a: null } } }),
    () => ({ ...config, metadata: { ...metadata, finalizers: ['x.dev/a', 'x.dev/a'] } }),
    () => ({ ...config, metadata: { ...metadata, labels: ['a'] } }),
    () => ({ ...config, metadata: { ...metadata, labels: { a: 1 } } }),
    () => ({ ...config, metadata: { ...metadata, labels: { a: { b: ['c', 1, true, null] } } } }),
    () => ({ ...config, metadata: { ...metadata, nothing: 1 } }),
    () => ({ ...config, nothing: { a: 1 } }),
    () => ({ ...config, kind: 'Other' }),
    () => ({ ...config, spec: { ...spec, ports: [{ protocol: 'TCP' }] } }),
    () => ({ ...config, spec: { ...spec, ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } }),
    () => ({ ...config, spec: { ...spec, items: [{ zone: 'us' }, { zone: 'us', name: null }] } }),
    // One at a time: of several undeclared fields, Go names any.
    () => ({ ...config, spec: { ...spec, items: null } }),
    () => ({ ...config, spec: { ...spec, set: null } }),
    () => ({ ...config, spec: { ...spec, granular: null } }),
    () => ({ ...config, spec: { ...spec, set: ['a', null] } }),
    () => ({ ...config, spec: { ...spec, items: ['a'] } }),
    () => ({ ...config, spec: { ...spec, items: {} } }),
    () => ({ ...config, spec: { ...spec, nested: { flag: 'x', deep: null } } }),
    () => ({ ...config, spec: { ...spec, numbers: ['x', 1.5] } }),
    () => ({ ...config, spec: null }),
  ])();
}
