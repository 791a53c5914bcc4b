import { compareKubeVersions } from 'riata/object';
import type { CrdSpec, CrdVersion } from '../../schema/crd/crd-object.js';
import type { Resource } from '../resource.js';

const builtIn: Readonly<Record<string, string>> = {
  '/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
  '/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
};

/** The warning for users of a deprecated resource; undefined if it is not deprecated. */
export function deprecationOf({ builtIn: isBuiltIn, table, deprecation }: Resource): string | undefined {
  if (!isBuiltIn) return deprecation;
  return Object.hasOwn(builtIn, table) ? builtIn[table] : undefined;
}

/** The warning for a deprecated version of a definition: its own text, or one that names the newer version. */
export function customDeprecation({ group, names, versions }: CrdSpec, version: CrdVersion): string | undefined {
  const { name = '', deprecated, deprecationWarning } = version;
  if (!deprecated) return undefined;
  if (typeof deprecationWarning === 'string') return deprecationWarning;
  const [newest] = (versions ?? [])
    .filter((v) => v.served && !v.deprecated)
    .map((v) => v.name ?? '')
    .filter((other) => compareKubeVersions(other, name) > 0)
    .sort((a, b) => compareKubeVersions(b, a));
  const kind = names?.kind ?? '';
  const warning = `${group}/${name} ${kind} is deprecated`;
  return newest === undefined ? warning : `${warning}; use ${group}/${newest} ${kind}`;
}
