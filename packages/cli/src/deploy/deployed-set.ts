import type { ConnectedClient, WriteObject } from 'riata/client';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import { Apply, formatDiff, type PlannedChange } from 'riata/patterns';
import type { Runtime } from 'riata/runtime';
import { diffWithCluster } from '../manifests/diff-with-cluster.js';

/** Where an operator is deployed, and as what. */
export interface DeployedAs {
  readonly name: string;
  readonly namespace: string;
}

/** A change that deploying makes, for people and for `--json`. */
export interface DeployChange {
  readonly action: 'create' | 'update' | 'replace' | 'delete';
  /** `Deployment site-operator/site-operator`. */
  readonly object: string;
  /** `~ spec.replicas: 1 → 2`; empty for what is created or deleted. */
  readonly diff: readonly string[];
}

/**
 * The desired set of a deployed operator. All but CustomResourceDefinitions, whose removal would remove all objects of their
 * kinds. A Namespace is never pruned, as it may hold what others made.
 */
export function deployedSet(
  client: ConnectedClient,
  { name, namespace }: DeployedAs,
  runtime: Partial<Runtime>,
): Apply {
  return new Apply(client, {
    setId: `riata-deploy/${namespace}/${name}`,
    fieldManager: 'riata-deploy',
    defaultNamespace: namespace,
    adopt: 'unowned',
    noDeleteKinds: [Namespace, CustomResourceDefinition],
    runtime,
  });
}

/** Whether an object is a CustomResourceDefinition. */
export function isCrd({ kind, apiVersion }: WriteObject): boolean {
  return kind === 'CustomResourceDefinition' && apiVersion === 'apiextensions.k8s.io/v1';
}

/** Whether the API server calls the operator because of an object. */
export function isWebhookConfiguration({ kind }: { readonly kind: string }): boolean {
  return kind === 'ValidatingWebhookConfiguration' || kind === 'MutatingWebhookConfiguration';
}

/** What deploying would change, by dry runs. */
export async function planDeploy(
  client: ConnectedClient,
  set: Apply,
  objects: readonly WriteObject[],
  signal: AbortSignal,
): Promise<DeployChange[]> {
  const crds = await diffWithCluster(client, objects.filter(isCrd), { signal });
  const plan = await set.dryRun(
    objects.filter((object) => !isCrd(object)),
    { signal },
  );
  return [
    ...crds.flatMap(({ object, state, lines }): DeployChange[] => {
      if (state === 'missing') return [{ action: 'create', object, diff: [] }];
      return state === 'different' ? [{ action: 'update', object, diff: formatDiff(lines) }] : [];
    }),
    ...plan.changes.flatMap(changeOf),
  ];
}

function changeOf(change: PlannedChange): DeployChange[] {
  const { action, diff } = change;
  if (action === 'unchanged' || action === 'release') return [];
  return [
    { action, object: memberName(change), diff: action === 'create' || action === 'delete' ? [] : formatDiff(diff) },
  ];
}

/** `Deployment site-operator/site-operator`. */
export function memberName({ kind, namespace, name }: Pick<PlannedChange, 'kind' | 'namespace' | 'name'>): string {
  return `${kind.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** The changes as lines, with the fields that differ, and a last line that counts them. */
export function planLines(changes: readonly DeployChange[]): string[] {
  const sign = { create: '+', update: '~', replace: '±', delete: '-' } as const;
  const lines = changes.flatMap(({ action, object, diff }) => [
    `${sign[action]} ${action} ${object}`,
    ...diff.map((line) => `    ${line}`),
  ]);
  const counts = (['create', 'update', 'replace', 'delete'] as const)
    .map((action) => [action, changes.filter((change) => change.action === action).length] as const)
    .filter(([, count]) => count > 0)
    .map(([action, count]) => `${count} to ${action}`);
  return [...lines, counts.length === 0 ? 'nothing to change' : counts.join(', ')];
}
