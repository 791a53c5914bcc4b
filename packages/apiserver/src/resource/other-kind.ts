import { splitApiVersion } from 'riata/object';
import { builtInGroupVersions } from './built-in/built-in-resources.js';
import type { Resource } from './resource.js';

/** The scheme name of built-in kinds in upstream's messages. */
const scheme = 'pkg/runtime/scheme.go:111';

/** kube-apiserver's error for an object of another kind than the expected built-in one. */
export function otherKind(resource: Resource, apiVersion: string, kind: string): string {
  const { group, version } = splitApiVersion(apiVersion);
  const known = builtInGroupVersions().some(
    (gv) => gv.group === group && gv.version === version && gv.resources.some((r) => r.kind === kind),
  );
  if (!known) return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "${scheme}"`;
  const goPackage = resource.group === '' || resource.kind === 'Event' ? 'core' : resource.group.split('.')[0];
  return `converting (${version}.${kind}) to (${goPackage}.${resource.kind}): unknown conversion`;
}
