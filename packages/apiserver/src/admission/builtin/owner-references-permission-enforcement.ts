import { equal, type JsonObject, splitApiVersion } from 'riata/object';
import { type Attributes, resourceAttributes } from '../../authorization/attributes.js';
import type { Authorizer } from '../../authorization/authorizer.js';
import { metaOf, recordsOf, textOf } from '../../resource/metadata.js';
import type { ResourceTable } from '../../resource/resource-table.js';
import { goQuote } from '../../status/go-quote.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.js';
import { forbiddenRequest, synchronousPlugin } from './synchronous-plugin.js';

/** Dependencies of the plugin. */
export interface OwnerReferencesParts {
  readonly authorizer: Authorizer;
  readonly served: ResourceTable;
}

/**
 * Requires permission to delete the object for changes of its owners, and to set an owner's finalizers for
 * `blockOwnerDeletion` (`OwnerReferencesPermissionEnforcement`).
 */
export function ownerReferencesPermissionEnforcement({ authorizer, served }: OwnerReferencesParts): AdmissionPlugin {
  return synchronousPlugin({
    name: 'OwnerReferencesPermissionEnforcement',
    handles: ({ operation, resource, subresource, object = {}, oldObject = {} }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      !(resource.table === '/pods' && subresource === 'status') &&
      !equal(ownersOf(object), ownersOf(oldObject)),
    check(object, attributes) {
      const { operation, oldObject = {}, user } = attributes;
      if (operation !== 'CREATE') checkDeletion(attributes, authorizer);
      const known = new Map(ownersOf(oldObject).map((owner) => [owner.uid, owner.blockOwnerDeletion === true]));
      const blocking = ownersOf(object).filter(
        ({ blockOwnerDeletion, uid }) => blockOwnerDeletion === true && known.get(uid) !== true,
      );
      if (blocking.length === 0) return;
      const anything = { verb: 'update', group: '*', resource: '*', subresource: 'finalizers', name: '*' };
      if (authorizer.isAllowed(resourceAttributes(user, anything))) return;
      for (const owner of blocking) checkFinalizers(owner, attributes, authorizer, served);
    },
  });
}

function ownersOf(object: JsonObject): readonly JsonObject[] {
  return recordsOf(metaOf(object).ownerReferences);
}

function checkDeletion(attributes: AdmissionAttributes, authorizer: Authorizer): void {
  const { resource, subresource, namespace, name, user } = attributes;
  const { group, plural } = resource;
  refuseUnless(
    resourceAttributes(user, { verb: 'delete', group, resource: plural, subresource, namespace, name }),
    "cannot set an ownerRef on a resource you can't delete",
    attributes,
    authorizer,
  );
}

function checkFinalizers(
  owner: JsonObject,
  attributes: AdmissionAttributes,
  authorizer: Authorizer,
  served: ResourceTable,
): void {
  const [apiVersion, kind, name] = [textOf(owner.apiVersion), textOf(owner.kind), textOf(owner.name)];
  const { group, version } = splitApiVersion(apiVersion);
  const found = served.resources(group, version).find((one) => one.kind === kind);
  if (found === undefined) {
    const missing = `no matches for kind ${goQuote(kind)} in version ${goQuote(apiVersion)}`;
    const why = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`;
    throw forbiddenRequest(attributes, `${why}: ${missing}`);
  }
  const namespace = found.scope === 'Namespaced' ? attributes.namespace : '';
  const asked = { verb: 'update', group, resource: found.plural, subresource: 'finalizers', namespace, name };
  refuseUnless(
    resourceAttributes(attributes.user, asked),
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
    attributes,
    authorizer,
  );
}

function refuseUnless(asked: Attributes, why: string, attributes: AdmissionAttributes, authorizer: Authorizer): void {
  const { allowed, reason } = authorizer.decide(asked);
  // Upstream appends the authorizer's error; this authorizer has none.
  if (!allowed) throw forbiddenRequest(attributes, `${why}: ${reason}, <nil>`);
}
