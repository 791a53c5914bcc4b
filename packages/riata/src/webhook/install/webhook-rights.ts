import {
  CustomResourceDefinition,
  Lease,
  MutatingWebhookConfiguration,
  Secret,
  Service,
  ValidatingWebhookConfiguration,
} from '../../kinds/index.js';
import type { WebhookServerOptions } from '../../manager/webhook-options.js';
import type { KindRef } from '../../object/kind.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import { crdName } from './configurations.js';
import { webhookNames } from './webhook-site.js';

/** Options of {@link webhookRights}: those that the program runs with. */
export interface WebhookRightsOptions extends Pick<WebhookServerOptions, 'certificates' | 'install' | 'service'> {
  /** See `WebhookServerOptions.name`. */
  readonly name: string;
  /** Where the program runs. */
  readonly namespace: string;
}

export const webhookRightsOptionNames = optionNames<WebhookRightsOptions>({
  name: true,
  namespace: true,
  certificates: true,
  install: true,
  service: true,
});

/** Rights to one kind; see `RbacNeed` of `riata/patterns`. */
export interface WebhookRight {
  readonly kind: KindRef;
  readonly verbs: readonly string[];
  readonly subresource?: string;
  readonly names?: readonly string[];
  readonly ownNamespace?: boolean;
}

const reading = ['get', 'list', 'watch'];

/**
 * The permissions that a program with these webhooks needs, for `collectRbac`: to read what handlers read, to keep its
 * certificate in a Secret of its own namespace, to write its configurations and the conversions of its CRDs by name, and
 * to ask an API server whether it reaches them.
 *
 * @example
 * collectRbac([sites, webhookRights([siteRules], { name: 'site-operator', namespace: 'site-system' })]);
 */
export function webhookRights(
  definitions: readonly Pick<WebhookDefinition, 'targets' | 'readKinds'>[],
  options: WebhookRightsOptions,
): { readonly rbacNeeds: readonly WebhookRight[] } {
  refuseUnknownOptions('webhookRights', options, webhookRightsOptionNames);
  const { certificates = 'own', install = true, service } = options;
  const names = webhookNames(options);
  const targets = definitions.flatMap((definition) => definition.targets);
  const isFiles = certificates === 'cert-manager' || (typeof certificates === 'object' && 'certFile' in certificates);
  const secretName =
    typeof certificates === 'object' && 'secretName' in certificates ? certificates.secretName : undefined;
  const keepsBundles = !isFiles || (typeof certificates === 'object' && 'caFile' in certificates);
  const needs: WebhookRight[] = definitions.flatMap(({ readKinds }) =>
    readKinds.map((kind) => ({ kind, verbs: reading })),
  );
  const own = { ownNamespace: true } as const;
  if (!isFiles) {
    needs.push({ kind: Secret, verbs: ['create'], ...own });
    needs.push({ kind: Secret, verbs: [...reading, 'update'], names: [secretName ?? names.secret], ...own });
  }
  if (targets.length === 0) return { rbacNeeds: needs };
  // The probe makes Leases with a name of their own, by dry run; the other one says which version installs.
  needs.push({ kind: Lease, verbs: ['create'], ...own });
  if (install) needs.push({ kind: Lease, verbs: ['get', 'update'], names: [names.lease], ...own });
  if (install && service?.selector !== undefined) {
    needs.push({ kind: Service, verbs: ['create', 'patch'], names: [service.name ?? names.service], ...own });
  }
  if (!install && !keepsBundles) return { rbacNeeds: needs };
  const writing = install ? [...reading, 'patch', 'create', 'delete'] : [...reading, 'patch'];
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration]) {
    needs.push({ kind: kind as KindRef, verbs: writing, names: [names.configuration] });
  }
  const crds = targets.flatMap((target) => (target.type === 'conversion' ? [crdName(target.kind)] : []));
  if (crds.length > 0) needs.push({ kind: CustomResourceDefinition, verbs: [...reading, 'patch'], names: crds });
  return { rbacNeeds: needs };
}
