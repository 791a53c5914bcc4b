import { clone, type JsonObject, splitApiVersion } from 'riata/object';
import { VirtualClock } from 'riata/runtime';
import type { AdmissionAttributes, AdmissionOperation } from '../admission/admission.js';
import type { AdmissionParts } from '../admission/admission-parts.js';
import { MutatingAdmissionPolicyPlugin } from '../admission/policy/mutating-admission-policy-plugin.js';
import { ValidatingAdmissionPolicyPlugin } from '../admission/policy/validating-admission-policy-plugin.js';
import { administrator, privilegedGroup, type UserInfo } from '../authentication/user-info.js';
import type { AccessQuestion } from '../cel/library/authorization.js';
import { metaOf, recordOf, stringsOf, textOf } from '../resource/metadata.js';
import { type Resource, withDefaults } from '../resource/resource.js';
import type { ServedResources } from '../resource/resource-table.js';
import { Refusal } from '../status/refusal.js';
import { atOnce } from '../steps.js';
import { MemoryStorage } from '../storage/memory-storage.js';
import { servedKinds } from './served-kinds.js';

/** A request that policies are to be run for, and the state of the cluster that they can see. */
export interface PolicyRequest {
  /** ValidatingAdmissionPolicies and MutatingAdmissionPolicies with their bindings. */
  readonly policies: readonly object[];
  /** The object that is written; undefined to delete `old`. */
  readonly object?: object | undefined;
  /** The stored object. @default none: the object is created */
  readonly old?: object | undefined;
  /** @default by the objects: CREATE, UPDATE or DELETE */
  readonly operation?: AdmissionOperation | undefined;
  /** The subresource that is written, e.g. `status`. @default the object itself */
  readonly subresource?: string | undefined;
  /** The params objects that exist. @default none */
  readonly params?: readonly object[] | undefined;
  /** Who sends the request. @default an administrator */
  readonly user?: UserInfo | undefined;
  /** The namespace of the object. @default an active one without labels of its own */
  readonly namespace?: object | undefined;
  /** Answers what expressions ask of `authorizer`. @default whatever members of `system:masters` ask, and nothing else */
  readonly allows?: ((question: AccessQuestion) => boolean) | undefined;
  readonly dryRun?: boolean | undefined;
  /** The CustomResourceDefinitions of the kinds of object and params. @default none: they are built in */
  readonly definitions?: readonly object[] | undefined;
}

/** A validation that a request fails, or an error of a policy. */
export interface PolicyViolation {
  readonly policy: string;
  /** Undefined if the policy itself is at fault. */
  readonly binding: string | undefined;
  readonly message: string;
  /** The reason in the Status of the answer. */
  readonly reason: string;
  /** What the server does about it. */
  readonly actions: readonly ('Deny' | 'Warn' | 'Audit')[];
  /** Of the validation in the policy; undefined for an error that is not one of a validation. */
  readonly index: number | undefined;
}

/** What policies do about a request. */
export interface PolicyOutcome {
  readonly violations: readonly PolicyViolation[];
  /** The object with its defaults and as policies changed it; undefined for a deletion. */
  readonly object: object | undefined;
  /** Audit annotations, by `policy/key`. */
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/**
 * Runs policies for one request, without a server: first those that change the object, then those that validate it, with
 * the code by which the embedded server enforces them. Unlike a server it finds every violation, not only the first. It
 * does not validate the object, and sets no metadata that only a server knows, such as `uid`.
 */
export async function evaluatePolicies(request: PolicyRequest): Promise<PolicyOutcome> {
  const served = await servedKinds(request.definitions);
  const storage = new MemoryStorage({ clock: new VirtualClock() });
  const put = (object: object) => {
    const resource = resourceOf(object as JsonObject, served);
    const { namespace, name } = metaOf(object as JsonObject);
    const key = resource.scope === 'Namespaced' ? `${textOf(namespace)}/${textOf(name)}` : textOf(name);
    const stored = prepared(object as JsonObject, resource);
    storage.put(resource.table, key, (revision) => withRevision(stored, revision) as never);
  };
  for (const object of [...request.policies, ...(request.params ?? [])]) put(object);
  const attributes = attributesOf(request, served);
  if (attributes.namespace !== '') put(namespaceOf(request, attributes.namespace));
  const decide = (question: AccessQuestion) => ({ allowed: (request.allows ?? isPrivileged)(question), reason: '' });
  const parts = { storage, served, authorizer: { decide } } as unknown as AdmissionParts;
  const mutated = mutate(new MutatingAdmissionPolicyPlugin(parts), attributes);
  if ('violation' in mutated)
    return { violations: [mutated.violation], object: attributes.object, auditAnnotations: {} };
  const validating = new ValidatingAdmissionPolicyPlugin(parts);
  const final = { ...attributes, object: mutated.object };
  if (!validating.handles(final)) return { violations: [], object: mutated.object, auditAnnotations: {} };
  const { failures, annotations } = atOnce(validating.findings(final));
  const violations = failures.map(({ policy, binding, message, reason, expressionIndex: index }) => ({
    ...{ policy, binding: binding?.name, message, reason: reason === '' ? 'Invalid' : reason, index },
    actions: (binding === undefined || index === undefined
      ? ['Deny']
      : stringsOf(binding.spec.validationActions)) as PolicyViolation['actions'],
  }));
  return { violations, object: mutated.object, auditAnnotations: Object.fromEntries(annotations) };
}

function mutate(
  plugin: MutatingAdmissionPolicyPlugin,
  attributes: AdmissionAttributes,
): { readonly object: JsonObject | undefined } | { readonly violation: PolicyViolation } {
  if (!plugin.handles(attributes)) return { object: attributes.object };
  try {
    return { object: atOnce(plugin.admit(attributes)) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const policy = /^policy '?"?([^'"]*)/.exec(error.message)?.[1] ?? '';
    const { reason = 'Invalid' } = error.status;
    return {
      violation: { policy, binding: undefined, message: error.message, reason, actions: ['Deny'], index: undefined },
    };
  }
}

function attributesOf(request: PolicyRequest, served: ServedResources): AdmissionAttributes {
  const { object, old, subresource = '', user = administrator, dryRun = false } = request;
  const operation = request.operation ?? (object === undefined ? 'DELETE' : old === undefined ? 'CREATE' : 'UPDATE');
  const subject = (object ?? old) as JsonObject | undefined;
  if (subject === undefined) throw new TypeError('evaluatePolicies: requires an object, or an old one to delete');
  const resource = resourceOf(subject, served);
  const { namespace, name } = metaOf(subject);
  const isNamespace = resource.table === '/namespaces';
  const { group, version, kind } = resource;
  return {
    ...{ operation, resource, kind: { group, version, kind }, subresource, user, dryRun },
    namespace: resource.scope === 'Namespaced' ? textOf(namespace) : isNamespace ? textOf(name) : '',
    name: textOf(name),
    object: operation === 'DELETE' || object === undefined ? undefined : prepared(object as JsonObject, resource),
    oldObject: old === undefined ? undefined : prepared(old as JsonObject, resource),
    options: { apiVersion: 'meta.k8s.io/v1', kind: optionsOf[operation] },
    warn: () => undefined,
    annotate: () => undefined,
  };
}

const optionsOf = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: 'CreateOptions',
} as const;

/** An object as the server sees it: without what it does not know, and with defaults. */
function prepared(object: JsonObject, resource: Resource): JsonObject {
  const { object: known } = atOnce(resource.schema.read(clone(object) as JsonObject));
  return withDefaults(resource, known);
}

function withRevision(object: JsonObject, revision: number): JsonObject {
  return { ...object, metadata: { ...metaOf(object), resourceVersion: String(revision) } };
}

function resourceOf(object: JsonObject, served: ServedResources): Resource {
  const [apiVersion, kind] = [textOf(object.apiVersion), textOf(object.kind)];
  const { group, version } = splitApiVersion(apiVersion);
  const found = served.resources(group, version).find((resource) => resource.kind === kind);
  if (found !== undefined) return found;
  throw new TypeError(
    `evaluatePolicies: kind ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)} is not known; give its CustomResourceDefinition`,
  );
}

function namespaceOf({ namespace }: PolicyRequest, name: string): JsonObject {
  const given = (namespace ?? {}) as JsonObject;
  const labels = { ...recordOf(metaOf(given).labels), 'kubernetes.io/metadata.name': name };
  return {
    ...{ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
    ...given,
    ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { ...metaOf(given), name, labels } },
  };
}

function isPrivileged({ user }: AccessQuestion): boolean {
  return user.groups?.includes(privilegedGroup) === true;
}
