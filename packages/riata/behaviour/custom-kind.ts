import type { TestEnvironment } from '@riata/testing';
import { CustomResourceDefinition } from 'riata/kinds';
import type { KubeObject } from 'riata/object';
import { type Kind, makeKind, type NamespacedMeta, type WriteOf } from 'riata/object';
import { uniqueName } from './servers.js';

/** An object of a custom kind, of whatever shape. */
export interface Widget extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec?: { readonly [field: string]: unknown };
  readonly status?: { readonly [field: string]: unknown };
}

export type WidgetKind = Kind<Widget, WriteOf<Widget>, 'Namespaced'>;

type Version = Parameters<typeof CustomResourceDefinition>[0]['spec']['versions'][number];

/**
 * Installs a custom kind of a group that no other test has, with status and scale, and waits until it is served. Takes
 * any field unless `version` has a schema of its own.
 */
export async function installKind(server: TestEnvironment, version: Partial<Version> = {}): Promise<WidgetKind> {
  const group = `${uniqueName('g')}.riata.dev`;
  const names = { kind: 'Widget', plural: 'widgets', singular: 'widget', shortNames: ['wdg'] };
  const versions = [{ name: 'v1', served: true, storage: true, ...anyFields, ...version }];
  const spec = { group, scope: 'Namespaced', names, versions };
  await server.install(CustomResourceDefinition({ metadata: { name: `widgets.${group}` }, spec }));
  return makeKind({ group, version: 'v1', scope: 'Namespaced', ...names });
}

const anyFields: Partial<Version> = {
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
};
