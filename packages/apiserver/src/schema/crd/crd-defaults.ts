import type { CrdObject } from './crd-object.js';

/** A CustomResourceDefinition with the defaults that the server gives it. */
export function withCrdDefaults<T extends CrdObject>(crd: T): T {
  const spec = crd.spec ?? {};
  const names = spec.names ?? {};
  const storage = (spec.versions ?? []).find((version) => version.storage)?.name;
  const stored = crd.status?.storedVersions ?? [];
  return {
    ...crd,
    spec: {
      ...spec,
      names: {
        ...names,
        ...(names.singular || names.kind ? { singular: names.singular || names.kind?.toLowerCase() } : {}),
        ...(names.listKind || names.kind ? { listKind: names.listKind || `${names.kind}List` } : {}),
      },
      conversion: spec.conversion ?? { strategy: 'None' },
    },
    ...(stored.length === 0 && storage !== undefined ? { status: { ...crd.status, storedVersions: [storage] } } : {}),
  };
}
