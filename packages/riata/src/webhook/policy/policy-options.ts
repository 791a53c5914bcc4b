import type { NamedRuleWithOperations } from '../../kinds/generated/types/admissionregistration-v1.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject, LabelSelector } from '../../object/meta.js';
import { type OptionNames, optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { PolicyOperation } from './policy-context.js';

/** What happens to a request that a validation fails. `deny` and `warn` exclude each other. */
export type PolicyAction = 'deny' | 'warn' | 'audit';

/** Which params objects a binding uses. */
export interface PolicyParamRef {
  /** One object by its name; or several, by `selector`. */
  readonly name?: string;
  readonly selector?: LabelSelector;
  /** @default the namespace of the request, if params are namespaced */
  readonly namespace?: string;
  /** What happens if no parameter object exists. @default 'deny' */
  readonly notFound?: 'allow' | 'deny';
}

/** Which requests a policy or binding is for, beyond kinds and operations. */
export interface PolicyMatch {
  /** Only objects in namespaces with these labels. @default all */
  readonly namespaceSelector?: LabelSelector;
  /** Only objects with these labels, before or after the change. @default all */
  readonly objectSelector?: LabelSelector;
  /** Requests that are left out. @default none */
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  /** Whether requests by another version of the kind are meant, too. @default 'equivalent' */
  readonly matchPolicy?: 'equivalent' | 'exact';
}

/** One binding of a policy: without any, a policy has no effect. */
export interface PolicyBindingOptions extends PolicyMatch {
  /** @default the name of the policy, with a number from the second on */
  readonly name?: string;
  /** @default the actions of the policy */
  readonly actions?: readonly PolicyAction[];
  /** @default the `paramRef` of the policy */
  readonly paramRef?: PolicyParamRef;
}

/** The options of `policy`. */
export interface PolicyOptions<
  Params extends KubeObject | undefined = KubeObject | undefined,
  Operation extends PolicyOperation = PolicyOperation,
> extends PolicyMatch {
  /** The name of the policy objects, and of the binding. */
  readonly name: string;
  /** What happens to a request that a validation fails. @default ['deny'] */
  readonly actions?: readonly PolicyAction[];
  /** @default ['create', 'update'] */
  readonly operations?: readonly Operation[];
  /** The kind of objects that configure the policy. @default none */
  readonly params?: Params extends KubeObject ? KindRef<Params> : undefined;
  /** Which of these objects to use. Required with `params`, here or in `bindings`. */
  readonly paramRef?: PolicyParamRef;
  /** Where the policy applies, and with which params. @default one binding, for everything that the policy matches */
  readonly bindings?: readonly PolicyBindingOptions[];
  /** What an expression that fails does to the request. @default 'fail': it is denied */
  readonly failurePolicy?: 'fail' | 'ignore';
  /** Only objects of these names. @default all */
  readonly resourceNames?: readonly string[];
  /** Writes to this subresource instead of the object itself, e.g. `scale`. `*` means all of them. */
  readonly subresource?: string;
  /** Whether mutations run again after others changed the object. @default 'never' */
  readonly reinvocationPolicy?: 'never' | 'ifNeeded';
  /** Labels of the policy objects. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations of the policy objects. */
  readonly annotations?: Readonly<Record<string, string>>;
}

const matchNames = optionNames<PolicyMatch>({
  ...{ namespaceSelector: true, objectSelector: true, excludeResourceRules: true, matchPolicy: true },
});

export const policyOptionNames: OptionNames<PolicyOptions> = matchNames.and<PolicyOptions>({
  ...{ name: true, actions: true, operations: true, params: true, paramRef: true, bindings: true },
  ...{ failurePolicy: true, resourceNames: true, subresource: true, reinvocationPolicy: true },
  ...{ labels: true, annotations: true },
});
const bindingOptionNames = matchNames.and<PolicyBindingOptions>({
  ...{ name: true, actions: true, paramRef: true },
});
const paramRefNames = optionNames<PolicyParamRef>({ name: true, selector: true, namespace: true, notFound: true });

const operations: readonly PolicyOperation[] = ['create', 'update', 'delete', 'connect'];
const actions: readonly PolicyAction[] = ['deny', 'warn', 'audit'];

/** Throws a `TypeError` for options that a server would refuse, or that have no effect. */
export function checkPolicyOptions(options: PolicyOptions): void {
  const subject = `policy ${JSON.stringify(options.name)}`;
  if (typeof options.name !== 'string' || options.name === '') throw new TypeError('policy: requires a name');
  refuseUnknownOptions(subject, options, policyOptionNames);
  checkList(`${subject}: operations`, options.operations, operations);
  checkActions(subject, options.actions);
  const bindings = options.bindings ?? [{}];
  if (bindings.length === 0)
    throw new TypeError(`${subject}: bindings must not be empty; a policy without one has no effect`);
  for (const [index, binding] of bindings.entries()) {
    const at = `${subject}: bindings[${index}]`;
    refuseUnknownOptions(at, binding, bindingOptionNames);
    checkActions(at, binding.actions);
    const ref = binding.paramRef ?? options.paramRef;
    if (options.params === undefined) {
      if (ref !== undefined) throw new TypeError(`${at}: paramRef requires params, the kind of the object`);
      continue;
    }
    if (ref === undefined)
      throw new TypeError(`${at}: a policy with params requires a paramRef, e.g. { name: 'limits' }`);
    refuseUnknownOptions(`${at}.paramRef`, ref, paramRefNames);
    if ((ref.name === undefined) === (ref.selector === undefined)) {
      throw new TypeError(`${at}: paramRef requires either name or selector`);
    }
  }
}

function checkActions(subject: string, given: readonly PolicyAction[] | undefined): void {
  checkList(`${subject}: actions`, given, actions);
  if (given?.includes('deny') && given.includes('warn')) {
    throw new TypeError(
      `${subject}: actions must not have both "deny" and "warn"; a denied request carries the message anyway`,
    );
  }
}

function checkList(subject: string, given: readonly string[] | undefined, known: readonly string[]): void {
  if (given === undefined) return;
  if (given.length === 0) throw new TypeError(`${subject} must not be empty`);
  const wrong = given.find((one) => !known.includes(one));
  if (wrong !== undefined)
    throw new TypeError(`${subject}: must be among ${known.join(', ')}, got ${JSON.stringify(wrong)}`);
}
