import type { Mutation, Validation } from '../../kinds/generated/types/admissionregistration-v1.js';
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../kinds/index.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { PolicyOperation } from './policy-context.js';
import type { PolicyBindingOptions, PolicyMatch, PolicyOptions, PolicyParamRef } from './policy-options.js';

/** The expressions of a policy, compiled. */
export interface CompiledPolicy {
  readonly kinds: readonly KindRef[];
  readonly options: PolicyOptions;
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly Validation[];
  readonly auditAnnotations: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly mutations: readonly Mutation[];
}

/** An object of a policy, as it is written. */
export type PolicyObject = Omit<KubeObject, 'metadata'> & {
  readonly metadata: { readonly name: string };
  readonly spec: object;
};

/** The policies and bindings that make a server enforce it. */
export function policyObjects(policy: CompiledPolicy): readonly PolicyObject[] {
  const { validations, auditAnnotations, mutations } = policy;
  return [
    ...(validations.length + auditAnnotations.length === 0 ? [] : validating(policy)),
    ...(mutations.length === 0 ? [] : mutating(policy)),
  ] as unknown as readonly PolicyObject[];
}

function validating(policy: CompiledPolicy): readonly object[] {
  const { options, validations, auditAnnotations } = policy;
  const bindings = bindingsOf(options).map(({ name, binding, spec }) =>
    ValidatingAdmissionPolicyBinding({
      metadata: { ...metadataOf(options), name },
      spec: { ...spec, validationActions: (binding.actions ?? options.actions ?? ['deny']).map(capital) },
    }),
  );
  const spec = {
    ...specOf(policy, options.operations ?? defaultOperations),
    ...(validations.length === 0 ? {} : { validations }),
    ...(auditAnnotations.length === 0 ? {} : { auditAnnotations }),
  };
  return [ValidatingAdmissionPolicy({ metadata: metadataOf(options), spec }), ...bindings];
}

function mutating(policy: CompiledPolicy): readonly object[] {
  const { options, mutations } = policy;
  const operations = (options.operations ?? defaultOperations).filter((operation) => operation !== 'delete');
  const reinvocationPolicy = options.reinvocationPolicy === 'ifNeeded' ? 'IfNeeded' : 'Never';
  const spec = { ...specOf(policy, operations), reinvocationPolicy, mutations };
  return [
    MutatingAdmissionPolicy({ metadata: metadataOf(options), spec }),
    ...bindingsOf(options).map(({ name, spec: bound }) =>
      MutatingAdmissionPolicyBinding({ metadata: { ...metadataOf(options), name }, spec: bound }),
    ),
  ];
}

const defaultOperations: readonly PolicyOperation[] = ['create', 'update'];

function metadataOf({ name, labels, annotations }: PolicyOptions) {
  return { name, ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) };
}

function specOf(policy: CompiledPolicy, operations: readonly PolicyOperation[]) {
  const { kinds, options, variables, matchConditions } = policy;
  const { params, failurePolicy = 'fail', resourceNames, subresource } = options as PolicyOptions<KubeObject>;
  const resourceRules = kinds.map(({ group, version, plural }) => ({
    apiGroups: [group],
    apiVersions: [version],
    operations: operations.map((operation) => operation.toUpperCase()),
    resources: [subresource === undefined ? plural : `${plural}/${subresource}`],
    ...(resourceNames === undefined ? {} : { resourceNames }),
  }));
  return {
    failurePolicy: capital(failurePolicy),
    ...(params === undefined ? {} : { paramKind: { apiVersion: params.apiVersion, kind: params.kind } }),
    matchConstraints: { ...matchOf(options), resourceRules },
    ...(variables.length === 0 ? {} : { variables }),
    ...(matchConditions.length === 0 ? {} : { matchConditions }),
  };
}

function matchOf({ namespaceSelector, objectSelector, excludeResourceRules, matchPolicy }: PolicyMatch) {
  return {
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(excludeResourceRules === undefined ? {} : { excludeResourceRules }),
    ...(matchPolicy === undefined ? {} : { matchPolicy: capital(matchPolicy) }),
  };
}

function bindingsOf(options: PolicyOptions) {
  const bindings: readonly PolicyBindingOptions[] = options.bindings ?? [{}];
  return bindings.map((binding, index) => {
    const paramRef = binding.paramRef ?? options.paramRef;
    const matchResources = matchOf(binding);
    return {
      binding,
      name: binding.name ?? (index === 0 ? options.name : `${options.name}-${index + 1}`),
      spec: {
        policyName: options.name,
        ...(paramRef === undefined ? {} : { paramRef: refOf(paramRef) }),
        ...(Object.keys(matchResources).length === 0 ? {} : { matchResources }),
      },
    };
  });
}

function refOf({ name, selector, namespace, notFound = 'deny' }: PolicyParamRef) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(selector === undefined ? {} : { selector }),
    ...(namespace === undefined ? {} : { namespace }),
    parameterNotFoundAction: capital(notFound),
  };
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
