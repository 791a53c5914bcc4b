import { splitApiVersion } from 'riata/object';
import { builtInGroupVersions } from './built-in/built-in-resources.js';
import type { Resource } from './resource.js';

/** What the built-in kinds are registered under, as upstream's messages name it. */
const scheme = 'pkg/runtime/scheme.go:111';

/** Why kube-apiserver does not read an object of another kind, where one of a built-in kind was to come. */
export function otherKind(resource: Resource, apiVersion: string, kind: string): string {
  const { group, version } = splitApiVersion(apiVersion);
  const known = builtInGroupVersions().some(
    (gv) => gv.group === group && gv.version === version && gv.resources.some((r) => r.kind === kind),
  );
  if (!known) return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "${scheme}"`;
  const goPackage = resource.group === '' || resource.kind === 'Event' ? 'core' : resource.group.split('.')[0];
  return `converting (${version}.${kind}) to (${goPackage}.${resource.kind}): unknown conversion`;
}
