import type {
  MutatingWebhook,
  ValidatingWebhook,
  WebhookClientConfig,
} from '../../kinds/generated/types/admissionregistration-v1.js';
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '../../kinds/index.js';
import { compareStrings } from '../../object/compare-strings.js';
import type { KindRef } from '../../object/kind.js';
import type { LabelSelector } from '../../object/meta.js';
import type { WebhookDefinition, WebhookTarget } from '../webhook-definition.js';
import { probeEntry } from './probe-webhook.js';

/** What decides on the objects that make API servers call webhooks. */
export interface ConfigurationParts {
  readonly definitions: readonly Pick<WebhookDefinition, 'name' | 'targets'>[];
  readonly site: { readonly name: string; readonly namespace: string; readonly configurationName: string };
  /** Whether the program runs in the namespace of the site. */
  readonly isInNamespace: boolean;
  readonly guardOwnNamespace: boolean;
  /** With the `caBundle`, if this program writes it. */
  readonly clientConfig: (path: string) => WebhookClientConfig;
  /** cert-manager's, for instance. @default none */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The conversion of a CRD. */
export interface CrdConversion {
  /** Of the CRD. */
  readonly name: string;
  readonly conversion: {
    readonly strategy: 'Webhook';
    readonly webhook: {
      readonly clientConfig: WebhookClientConfig;
      readonly conversionReviewVersions: readonly string[];
    };
  };
}

/** Both configurations, entries sorted by name, so that every replica makes the same ones. */
export function configurationsFor(parts: ConfigurationParts) {
  const { definitions, site, clientConfig, annotations } = parts;
  const targets = definitions.flatMap((definition) => definition.targets);
  const metadata = { name: site.configurationName, ...(annotations && { annotations }) };
  const { path: probePath, ...probe } = probeEntry(site);
  const entriesOf = (type: 'mutating' | 'validating') =>
    targets.flatMap((target) => {
      if (target.type !== type) return [];
      const { webhook, path } = target;
      return [{ ...webhook, ...guarded(webhook, parts), clientConfig: clientConfig(path) }];
    });
  const probes = targets.length === 0 ? [] : [{ ...probe, clientConfig: clientConfig(probePath) }];
  return {
    mutating: MutatingWebhookConfiguration({ metadata, webhooks: sorted(entriesOf('mutating') as MutatingWebhook[]) }),
    validating: ValidatingWebhookConfiguration({
      metadata,
      webhooks: sorted([...(entriesOf('validating') as ValidatingWebhook[]), ...probes]),
    }),
  };
}

/** The conversions of CRDs, sorted by the names of these. */
export function conversionsFor({
  definitions,
  clientConfig,
}: Pick<ConfigurationParts, 'definitions' | 'clientConfig'>): readonly CrdConversion[] {
  const conversions = definitions.flatMap(({ targets }) =>
    targets.flatMap((target): CrdConversion[] => {
      if (target.type !== 'conversion') return [];
      const webhook = { clientConfig: clientConfig(target.path), conversionReviewVersions: ['v1'] };
      return [{ name: crdName(target.kind), conversion: { strategy: 'Webhook', webhook } }];
    }),
  );
  return conversions.sort((a, b) => compareStrings(a.name, b.name));
}

export function crdName({ plural, group }: Pick<KindRef, 'plural' | 'group'>): string {
  return `${plural}.${group}`;
}

/** Throws on a duplicate entry or conversion: one of the two would never be called. */
export function assertDistinctTargets(
  definition: WebhookDefinition,
  others: readonly Pick<WebhookDefinition, 'name' | 'targets'>[],
): void {
  const seen = new Map(
    others.flatMap(({ name, targets }) => targets.map((target) => [targetId(target), name] as const)),
  );
  for (const target of definition.targets) {
    const id = targetId(target);
    const other = seen.get(id);
    if (other !== undefined) {
      throw new Error(`webhook "${definition.name}": ${id} already belongs to webhook "${other}"; choose another name`);
    }
    seen.set(id, definition.name);
  }
}

function targetId(target: WebhookTarget): string {
  if (target.type === 'conversion') return `the conversion of ${crdName(target.kind)}`;
  return `${target.type} entry "${target.webhook.name}"`;
}

function sorted<T extends { readonly name: string }>(entries: readonly T[]): readonly T[] {
  return [...entries].sort((a, b) => compareStrings(a.name, b.name));
}

/**
 * Leaves out the namespace of the program: a webhook that is down would keep its own Pods, Secrets and Leases from being
 * written, and never come back. Selectors have no effect on cluster-scoped objects.
 */
function guarded(
  { namespaceSelector, rules = [] }: Pick<ValidatingWebhook, 'namespaceSelector' | 'rules'>,
  { guardOwnNamespace, isInNamespace, site }: ConfigurationParts,
): { readonly namespaceSelector?: LabelSelector } {
  const isClusterOnly = rules.length > 0 && rules.every(({ scope }) => scope === 'Cluster');
  if (guardOwnNamespace || !isInNamespace || isClusterOnly) return {};
  const others = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [site.namespace] };
  return {
    namespaceSelector: {
      ...namespaceSelector,
      matchExpressions: [...(namespaceSelector?.matchExpressions ?? []), others],
    },
  };
}
