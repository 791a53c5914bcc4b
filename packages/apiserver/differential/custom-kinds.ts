import { definitions, get, post } from './asks.js';
import type { Step } from './pair.js';
import type { Answer } from './wire.js';

/** A definition of `Widget`s (or of what `names` says) under a group. */
export interface DefinitionOptions {
  readonly plural?: string;
  readonly kind?: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly names?: object;
  readonly versions?: readonly object[];
  readonly more?: object;
}

export function version(name: string, schema: object, more: object = {}): object {
  return { name, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', ...schema } }, ...more };
}

export function definition(group: string, options: DefinitionOptions = {}) {
  const { plural = 'widgets', kind = 'Widget', scope = 'Namespaced', names = {}, versions = [], more = {} } = options;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names: { plural, kind, ...names }, versions, ...more },
  };
}

/** Makes a definition and waits until its kind is served: the real server does that later. */
export function served(made: ReturnType<typeof definition>): Step[] {
  const { group, versions } = made.spec;
  const [{ name = 'v1' } = {}] = versions as readonly { readonly name?: string }[];
  const plural = made.metadata.name.slice(0, made.metadata.name.indexOf('.'));
  return [
    post(definitions, made, { silent: true }),
    get(`${definitions}/${made.metadata.name}`, { until: isEstablished, silent: true }),
    get(`/apis/${group}/${name}/${plural}`, { until: ({ status }) => status === 200, silent: true }),
    get(`/apis/${group}/${name}`, { until: ({ status }) => status === 200, silent: true }),
  ];
}

export function isEstablished({ body }: Answer): boolean {
  const conditions: readonly { type: string; status: string }[] = body?.status?.conditions ?? [];
  return conditions.some((c) => c.type === 'Established' && c.status === 'True');
}
