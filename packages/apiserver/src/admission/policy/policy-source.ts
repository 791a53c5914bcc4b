import type { JsonObject } from 'riata/object';
import { metaOf, recordOf, textOf } from '../../resource/metadata.js';
import type { Storage } from '../../storage/storage.js';

/** A policy, its compiled form and its bindings. */
export interface PolicyHook<Compiled> {
  readonly name: string;
  readonly spec: JsonObject;
  readonly compiled: Compiled;
  readonly bindings: readonly PolicyBinding[];
}

export interface PolicyBinding {
  readonly name: string;
  readonly spec: JsonObject;
}

/** The policies that are bound, compiled with the first request after a change (`generic.PolicySource`). */
export class PolicySource<Compiled> {
  readonly #storage: Storage;
  readonly #policies: string;
  readonly #bindings: string;
  readonly #compile: (policy: JsonObject) => Compiled;
  /** Unchanged policies stay compiled. */
  readonly #compiled = new WeakMap<JsonObject, Compiled>();
  #hooks: readonly PolicyHook<Compiled>[] | undefined;

  /** `kind` is the prefix of both resources: `validating` or `mutating`. */
  constructor(storage: Storage, kind: 'validating' | 'mutating', compile: (policy: JsonObject) => Compiled) {
    this.#storage = storage;
    this.#policies = `admissionregistration.k8s.io/${kind}admissionpolicies`;
    this.#bindings = `admissionregistration.k8s.io/${kind}admissionpolicybindings`;
    this.#compile = compile;
  }

  /** Called for every write. */
  observe(table: string): void {
    if (table === this.#policies || table === this.#bindings) this.#hooks = undefined;
  }

  /** In the order of their names. */
  get hooks(): readonly PolicyHook<Compiled>[] {
    this.#hooks ??= this.#find();
    return this.#hooks;
  }

  #find(): readonly PolicyHook<Compiled>[] {
    const bindings = new Map<string, PolicyBinding[]>();
    for (const { object } of this.#storage.list(this.#bindings).items) {
      const spec = recordOf((object as unknown as JsonObject).spec);
      const policy = textOf(spec.policyName);
      bindings.set(policy, [...(bindings.get(policy) ?? []), { name: object.metadata.name ?? '', spec }]);
    }
    return [...bindings.keys()].sort().flatMap((name) => {
      const policy = this.#storage.get(this.#policies, name)?.object as unknown as JsonObject | undefined;
      if (policy === undefined) return [];
      const compiled = this.#compiled.get(policy) ?? this.#compile(policy);
      this.#compiled.set(policy, compiled);
      const hook = { name: textOf(metaOf(policy).name), spec: recordOf(policy.spec), compiled };
      return [{ ...hook, bindings: bindings.get(name) ?? [] }];
    });
  }
}
