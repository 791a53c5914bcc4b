import type { Addable, Added, Manager } from '../../manager/manager.js';
import type { CelPatch } from '../../object/cel/cel-functions.js';
import { nameNode, selectNode } from '../../object/cel/cel-node.js';
import { isCelIdentifier } from '../../object/cel/cel-text.js';
import type { CelList, CelOf, CelString, Presence, PresentCel, ValueOf } from '../../object/cel/cel-types.js';
import {
  type CelRoot,
  type CompileOptions,
  compileApply,
  compilePatch,
  compileTest,
  compileText,
  compileValue,
  objectRoot,
} from '../../object/cel/compile-cel.js';
import { builderOf, type KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { StructuralSchema } from '../../object/schema/structural-schema.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { WebhookRight } from '../install/webhook-rights.js';
import {
  type CheckedPolicy,
  type PolicyCheckOptions,
  type PolicyPreview,
  type PolicyViolation,
  previewPolicy,
} from './check-policy.js';
import { installPolicy } from './install-policy.js';
import type {
  ObjectOf,
  PolicyContext,
  PolicyFields,
  PolicyKinds,
  PolicyMatchContext,
  PolicyMessageContext,
  PolicyOperation,
  PolicyTest,
  PolicyTypes,
} from './policy-context.js';
import { type CompiledPolicy, type PolicyObject, policyObjects } from './policy-objects.js';
import { checkPolicyOptions, type PolicyOptions } from './policy-options.js';

/** How a denied request is answered. */
export interface RequireOptions<T extends PolicyTypes> {
  /** One line. @default the expression */
  readonly message?: string;
  /** The message as an expression, with values in it; `message` is used if it fails. */
  readonly messageExpression?: (context: PolicyMessageContext<T>) => CelString<string, Presence>;
  /** @default 'Invalid' */
  readonly reason?: 'Unauthorized' | 'Forbidden' | 'Invalid' | 'RequestEntityTooLarge';
}

const requireOptionNames = optionNames<RequireOptions<PolicyTypes>>({
  message: true,
  messageExpression: true,
  reason: true,
});

/** A policy of whatever kind: what can be run, checked and written to a file. */
export interface PolicyDefinition extends CheckedPolicy, Addable {
  /** For `collectRbac`. */
  readonly rbacNeeds: readonly WebhookRight[];
  check(object: object, options?: PolicyCheckOptions): Promise<readonly PolicyViolation[]>;
  preview(object: object, options?: PolicyCheckOptions): Promise<PolicyPreview>;
}

/**
 * A policy as a value: it needs no connection. `run` and `manager.add` install it, `objects` are its manifests, and `check`
 * evaluates it without a cluster. Each method returns a new policy.
 */
export class Policy<T extends PolicyTypes = PolicyTypes> implements PolicyDefinition {
  readonly #compiled: CompiledPolicy;

  /** Use `policy(Kind, options)`. */
  constructor(compiled: CompiledPolicy) {
    this.#compiled = compiled;
  }

  get name(): string {
    return this.#compiled.options.name;
  }

  /** Requires something of a request; otherwise the actions of the bindings are taken. */
  require(test: PolicyTest<PolicyContext<T>>, options: RequireOptions<T> = {}): Policy<T> {
    const index = this.#compiled.validations.length;
    refuseUnknownOptions(`policy "${this.name}": require`, options, requireOptionNames);
    const { message, messageExpression, reason } = options;
    if (message !== undefined && (message.trim() === '' || message.includes('\n'))) {
      throw new TypeError(`policy "${this.name}": message must be one line of text, got ${JSON.stringify(message)}`);
    }
    const validation = {
      expression: compileTest(test, this.#how(`require ${index + 1}`, 'object')),
      ...(message === undefined ? {} : { message }),
      ...(messageExpression === undefined
        ? {}
        : { messageExpression: compileText(messageExpression, this.#how(`messageExpression ${index + 1}`, 'object')) }),
      ...(reason === undefined ? {} : { reason }),
    };
    return this.#with({ validations: [...this.#compiled.validations, validation] });
  }

  /** Names a value that later functions find in `variables`. It is computed once, when it is first used. */
  variable<const Name extends string, Value extends PresentCel>(
    name: Name,
    value: (context: PolicyContext<T>) => Value,
  ): Policy<
    Omit<T, 'variables'> & { readonly variables: T['variables'] & { readonly [N in Name]: CelOf<ValueOf<Value>> } }
  > {
    const { variables } = this.#compiled;
    const subject = `policy "${this.name}"`;
    if (!isCelIdentifier(name)) throw new TypeError(`${subject}: variable name must be an identifier, got "${name}"`);
    if (variables.some((one) => one.name === name)) throw new TypeError(`${subject}: duplicate variable "${name}"`);
    const expression = compileValue(value, this.#how(`variable "${name}"`, 'object'));
    return this.#with({ variables: [...variables, { name, expression }] });
  }

  /** Runs the policy only for requests of which this is true; of several conditions all. */
  matchCondition(name: string, test: PolicyTest<PolicyMatchContext<T>>): Policy<T> {
    const { matchConditions } = this.#compiled;
    if (matchConditions.some((one) => one.name === name)) {
      throw new TypeError(`policy "${this.name}": duplicate match condition "${name}"`);
    }
    const expression = compileTest(test, this.#how(`matchCondition "${name}"`, undefined));
    return this.#with({ matchConditions: [...matchConditions, { name, expression }] });
  }

  /** Adds an annotation to the audit event of a request, unless it is empty or absent. */
  auditAnnotation(key: string, value: (context: PolicyContext<T>) => CelString<string, Presence>): Policy<T> {
    const { auditAnnotations } = this.#compiled;
    const valueExpression = compileText(value, this.#how(`auditAnnotation "${key}"`, 'object'));
    return this.#with({ auditAnnotations: [...auditAnnotations, { key, valueExpression }] });
  }

  /**
   * Changes objects before they are validated: the fields returned are merged as server-side apply merges them (patch type
   * `ApplyConfiguration`). Lists and maps that are atomic cannot be changed so; `patch` can.
   */
  mutate(fields: (context: PolicyContext<T>) => PolicyFields<T['object']>): Policy<T> {
    const expression = compileApply(fields, this.#how(`mutate ${this.#compiled.mutations.length + 1}`, undefined));
    return this.#mutation({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
  }

  /** Changes objects before they are validated, by a JSON patch (patch type `JSONPatch`). */
  patch(operations: (context: PolicyContext<T>) => readonly CelPatch[] | CelList<unknown, Presence>): Policy<T> {
    const expression = compilePatch(operations, this.#how(`patch ${this.#compiled.mutations.length + 1}`, undefined));
    return this.#mutation({ patchType: 'JSONPatch', jsonPatch: { expression } });
  }

  /** The policy objects and their bindings, ready to be applied; `policyManifests` checks them before. */
  get objects(): readonly PolicyObject[] {
    const { validations, auditAnnotations, mutations } = this.#compiled;
    if (validations.length + auditAnnotations.length + mutations.length === 0) {
      throw new TypeError(`policy "${this.name}" does nothing; add .require(…), .mutate(…) or .patch(…)`);
    }
    return policyObjects(this.#compiled);
  }

  /** The kinds that it is for, and that of its params. */
  get kinds(): readonly KindRef[] {
    const { kinds, options } = this.#compiled;
    return options.params === undefined ? kinds : [...kinds, options.params];
  }

  /**
   * The violations of an object by this policy, evaluated without a cluster by the CEL of the embedded server: requires the
   * package `@riata/apiserver`. Empty for an object that the server would admit.
   */
  async check(object: object, options: PolicyCheckOptions = {}): Promise<readonly PolicyViolation[]> {
    return (await this.preview(object, options)).violations;
  }

  /** As `check`, with the object as mutations change it and the audit annotations. */
  preview(object: object, options: PolicyCheckOptions = {}): Promise<PolicyPreview> {
    return previewPolicy([this], object, options);
  }

  /** For `collectRbac`: to apply `objects`, and to name params, for which servers require the right to read them. */
  get rbacNeeds(): readonly WebhookRight[] {
    const names = new Map<KindRef, string[]>();
    for (const object of this.objects) {
      const kind = builderOf(object);
      if (kind === undefined) continue;
      names.set(kind, [...(names.get(kind) ?? []), object.metadata.name]);
    }
    const { params } = this.#compiled.options;
    return [
      ...[...names].map(([kind, own]) => ({ kind, verbs: ['create', 'patch'], names: own })),
      ...(params === undefined ? [] : [{ kind: params, verbs: ['get'] }]),
    ];
  }

  /** Applies `objects` when the manager starts, on the replica that leads; removing it leaves them in place. */
  addTo(manager: Manager): Added {
    return installPolicy(manager, this.name, this.objects);
  }

  #mutation(mutation: CompiledPolicy['mutations'][number]): Policy<T> {
    return this.#with({ mutations: [...this.#compiled.mutations, mutation] });
  }

  #with<U extends PolicyTypes = T>(change: Partial<CompiledPolicy>): Policy<U> {
    return new Policy<U>({ ...this.#compiled, ...change });
  }

  /** How a function is compiled; `trusted`: whether the object was validated before. */
  #how(what: string, trusted: 'object' | undefined): CompileOptions {
    const { kinds, options, variables } = this.#compiled;
    const operations: readonly PolicyOperation[] = options.operations ?? ['create', 'update'];
    const schema = kinds.length === 1 && options.subresource === undefined ? schemaOf(kinds[0]) : undefined;
    const isDeleting = operations.includes('delete');
    const isCreating = operations.includes('create') || operations.includes('connect');
    const root = nameNode('variables', { isComplete: true });
    const named = variables.map(
      ({ name }) => [name, selectNode(root, name, { optional: false, trusted: false })] as const,
    );
    const roots: Record<string, CelRoot> = {
      object: objectRoot('object', {
        ...{ schema, trusted: trusted === 'object', absent: isDeleting ? 'null' : undefined },
      }),
      // It may have been stored under another schema.
      old: objectRoot('oldObject', { schema, absent: isCreating ? 'null' : undefined }),
      params: objectRoot('params', { schema: schemaOf(options.params) }),
      request: nameNode('request'),
      namespaceObject: objectRoot('namespaceObject', { absent: 'null' }),
      authorizer: nameNode('authorizer', { isComplete: true }),
      variables: Object.fromEntries(named),
    };
    return { subject: `policy "${this.name}": ${what}`, roots, style: 'optional' };
  }
}

/** The schema of a kind that has one. */
function schemaOf(kind: KindRef | undefined): StructuralSchema | undefined {
  return (kind as { readonly schema?: StructuralSchema } | undefined)?.schema;
}

/**
 * Declares a policy that the API server itself enforces, without a webhook: typed functions become CEL in a
 * ValidatingAdmissionPolicy or a MutatingAdmissionPolicy and their bindings.
 *
 * ```ts
 * export const registry = policy(Deployment, { name: 'own-registry' }).require(
 *   ({ object }) => object.spec.template.spec.containers.all((c) => c.image.startsWith('registry.example.com/')),
 *   { message: 'images come from registry.example.com' },
 * );
 * await run(sites, registry);
 * ```
 *
 * Each function is called once, with expressions instead of values. What cannot be compiled, such as JavaScript's
 * operators, throws a `CelCompileError` that names the expression.
 */
export function policy<
  const Kinds extends PolicyKinds,
  Params extends KubeObject | undefined = undefined,
  const Operation extends PolicyOperation = 'create' | 'update',
>(
  kinds: Kinds,
  options: PolicyOptions<Params, Operation>,
): Policy<{
  readonly object: ObjectOf<Kinds>;
  readonly params: Params;
  readonly operations: Operation;
  readonly variables: unknown;
}> {
  const all: readonly KindRef[] = Array.isArray(kinds) ? kinds : [kinds as KindRef];
  checkPolicyOptions(options as PolicyOptions);
  if (all.length === 0) throw new TypeError(`policy "${options.name}": requires a kind`);
  return new Policy({
    ...{ kinds: all, options: options as PolicyOptions, variables: [], matchConditions: [] },
    ...{ validations: [], auditAnnotations: [], mutations: [] },
  });
}
