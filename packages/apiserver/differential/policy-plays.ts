import { configMaps, post } from './asks.js';
import type { Step } from './pair.js';
import type { Answer } from './wire.js';

const api = '/apis/admissionregistration.k8s.io/v1';

/** Where the objects of the four kinds are. */
export const policyPaths = {
  validating: `${api}/validatingadmissionpolicies`,
  validatingBindings: `${api}/validatingadmissionpolicybindings`,
  mutating: `${api}/mutatingadmissionpolicies`,
  mutatingBindings: `${api}/mutatingadmissionpolicybindings`,
};

/** A rule that means all of these resources. */
export const ruleFor = (apiGroup: string, resources: readonly string[], operations: readonly string[] = ['*']) => ({
  apiGroups: [apiGroup],
  apiVersions: ['*'],
  operations,
  resources,
});

/** Means ConfigMaps with a label of this value. */
export const labelled = (value: string, operations: readonly string[] = ['*']) => ({
  resourceRules: [ruleFor('', ['configmaps'], operations)],
  objectSelector: { matchLabels: { case: value } },
});

/** A policy that is refused would make every answer to come the same. */
function isMade({ status, body }: Answer): boolean {
  if (status !== 201) throw new Error(`cannot make the policy: ${body.message}`);
  return true;
}

/** Whether the real server has heard of the params that a binding selects: it does so a moment later. */
export function findsParams({ body }: Answer): boolean {
  return !/no params found|not yet synced|failed to find resource/.test(String(body.message));
}

/** Makes a policy and a binding of the same name. */
export const bound = (kind: 'validating' | 'mutating', name: string, spec: object, binding: object = {}): Step[] => [
  post(policyPaths[kind], { metadata: { name }, spec }, { silent: true, until: isMade }),
  post(
    policyPaths[`${kind}Bindings`],
    {
      metadata: { name },
      spec: { policyName: name, ...(kind === 'validating' ? { validationActions: ['Deny'] } : {}), ...binding },
    },
    { silent: true, until: isMade },
  ),
];

/**
 * Waits until policies that were made before are enforced: the real server hears of them a moment later, of all of them
 * in the order in which they were made.
 */
export const enforced = (ns: string, name: string): Step[] => [
  ...bound('validating', name, {
    matchConstraints: { resourceRules: [{ ...ruleFor('', ['configmaps']), resourceNames: [name] }] },
    validations: [{ expression: 'false' }],
  }),
  post(`${configMaps(ns)}?dryRun=All`, { metadata: { name } }, { silent: true, until: ({ status }) => status === 422 }),
];

/** As {@link enforced}, for policies that change objects. */
export const enforcedChanges = (ns: string, name: string): Step[] => [
  ...bound('mutating', name, {
    matchConstraints: { resourceRules: [{ ...ruleFor('', ['configmaps'], ['CREATE']), resourceNames: [name] }] },
    reinvocationPolicy: 'Never',
    mutations: [
      {
        patchType: 'JSONPatch',
        jsonPatch: { expression: '[JSONPatch{op: "add", path: "/data", value: {"seen": "yes"}}]' },
      },
    ],
  }),
  post(
    `${configMaps(ns)}?dryRun=All`,
    { metadata: { name } },
    { silent: true, until: ({ body }) => body.data?.seen === 'yes' },
  ),
];
