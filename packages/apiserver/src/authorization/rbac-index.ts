import type { JsonObject, KubeObject } from 'riata/object';
import { serviceAccountUser } from '../authentication/service-account-name.js';
import type { UserInfo } from '../authentication/user-info.js';
import { recordOf, recordsOf, textOf } from '../resource/metadata.js';
import { goQuote } from '../status/go-quote.js';
import type { Storage, StorageEvent } from '../storage/storage.js';
import { type PolicyRule, rulesOf } from './policy-rule.js';

/** The tables that RBAC is read from. */
export const rbacTables = {
  roles: 'rbac.authorization.k8s.io/roles',
  clusterRoles: 'rbac.authorization.k8s.io/clusterroles',
  roleBindings: 'rbac.authorization.k8s.io/rolebindings',
  clusterRoleBindings: 'rbac.authorization.k8s.io/clusterrolebindings',
} as const;

/** The role that a binding gives. */
export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

/** Hears of the rules that apply to a user, until it answers true, and of roles that are not there. */
export interface RuleVisitor {
  /** `source` names the binding that gives the rule. */
  rule(rule: PolicyRule, source: () => string): boolean;
  missing(role: RoleRef): void;
}

interface Binding {
  readonly name: string;
  /** `''` for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly role: RoleRef;
  readonly subjects: readonly Subject[];
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  /** What it is found by: `U` and a user's name, or `G` and a group's. */
  readonly key: string;
  /** How messages call it. */
  readonly shown: string;
}

/**
 * Roles and bindings, by whom they are for. It follows the storage write by write, so that a request costs the bindings of
 * its user alone, however many there are. Nothing is read before the first question: most servers are used by their
 * administrator only.
 */
export class RbacIndex {
  readonly #storage: Storage;
  /** By namespace, `''` for ClusterRoleBindings, then by the key of a subject. Built on first use. */
  #bindings: Map<string, Map<string, Set<Binding>>> | undefined;
  /** What a stored binding was read as, by its table and key. */
  readonly #byKey = new Map<string, Binding>();
  /** Rules of roles that were asked for, by table and key. */
  readonly #rules = new Map<string, readonly PolicyRule[]>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Observes every write of the storage. */
  observe(table: string, { key, after }: StorageEvent): void {
    if (this.#bindings === undefined || !table.startsWith('rbac.')) return;
    const id = `${table} ${key}`;
    if (table === rbacTables.roles || table === rbacTables.clusterRoles) this.#rules.delete(id);
    else if (table === rbacTables.roleBindings || table === rbacTables.clusterRoleBindings) {
      this.#drop(id);
      if (after !== undefined) this.#add(id, after.object);
    }
  }

  /** Visits the rules that apply to a user in a namespace (`''`: in none): first those that apply everywhere. */
  visit(user: UserInfo, namespace: string, visitor: RuleVisitor): void {
    this.#bindings ??= this.#read();
    if (this.#visitIn('', user, visitor) || namespace === '') return;
    this.#visitIn(namespace, user, visitor);
  }

  /** All rules that apply to a user in a namespace, and the roles that bindings name and that are not there. */
  rulesFor(user: UserInfo, namespace: string): { rules: PolicyRule[]; missing: RoleRef[] } {
    const rules: PolicyRule[] = [];
    const missing: RoleRef[] = [];
    this.visit(user, namespace, {
      rule: (rule) => {
        rules.push(rule);
        return false;
      },
      missing: (role) => missing.push(role),
    });
    return { rules, missing };
  }

  /** The rules of a role; undefined if it is not there. The namespace is that of the binding. */
  rulesOfRole({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const isCluster = kind === 'ClusterRole';
    if (!isCluster && kind !== 'Role') return undefined;
    const table = isCluster ? rbacTables.clusterRoles : rbacTables.roles;
    const key = isCluster ? name : `${namespace}/${name}`;
    const id = `${table} ${key}`;
    const known = this.#rules.get(id);
    if (known !== undefined) return known;
    const role = this.#storage.get(table, key)?.object as unknown as JsonObject | undefined;
    if (role === undefined) return undefined;
    const rules = rulesOf(role.rules);
    // Before the first use, changes are not observed.
    if (this.#bindings !== undefined) this.#rules.set(id, rules);
    return rules;
  }

  /** True if the visitor has heard enough. */
  #visitIn(namespace: string, user: UserInfo, visitor: RuleVisitor): boolean {
    const bySubject = this.#bindings?.get(namespace);
    if (bySubject === undefined) return false;
    const keys = [`U${user.username}`, ...(user.groups ?? []).map((group) => `G${group}`)];
    for (const [at, key] of keys.entries()) {
      for (const binding of bySubject.get(key) ?? []) {
        // A binding counts once, however many of its subjects are the user.
        if (binding.subjects.some((subject) => isBefore(keys, subject.key, at))) continue;
        const rules = this.rulesOfRole(binding.role, namespace);
        if (rules === undefined) {
          visitor.missing(binding.role);
          continue;
        }
        const source = () => describe(binding, keys);
        for (const rule of rules) if (visitor.rule(rule, source)) return true;
      }
    }
    return false;
  }

  #read(): Map<string, Map<string, Set<Binding>>> {
    this.#bindings = new Map();
    for (const table of [rbacTables.clusterRoleBindings, rbacTables.roleBindings]) {
      for (const { key, object } of this.#storage.list(table).items) this.#add(`${table} ${key}`, object);
    }
    return this.#bindings;
  }

  #add(id: string, object: KubeObject): void {
    this.#drop(id);
    const binding = bindingOf(object);
    this.#byKey.set(id, binding);
    const bySubject = this.#bindings?.get(binding.namespace) ?? new Map<string, Set<Binding>>();
    this.#bindings?.set(binding.namespace, bySubject);
    for (const { key } of binding.subjects) {
      const known = bySubject.get(key);
      if (known === undefined) bySubject.set(key, new Set([binding]));
      else known.add(binding);
    }
  }

  #drop(id: string): void {
    const binding = this.#byKey.get(id);
    if (binding === undefined) return;
    this.#byKey.delete(id);
    const bySubject = this.#bindings?.get(binding.namespace);
    for (const { key } of binding.subjects) {
      const known = bySubject?.get(key);
      known?.delete(binding);
      if (known?.size === 0) bySubject?.delete(key);
    }
    if (bySubject?.size === 0) this.#bindings?.delete(binding.namespace);
  }
}

/** Whether a key is among the first `end` ones. */
function isBefore(keys: readonly string[], key: string, end: number): boolean {
  const at = keys.indexOf(key);
  return at >= 0 && at < end;
}

function bindingOf(object: KubeObject): Binding {
  const { roleRef, subjects } = object as unknown as JsonObject;
  const { name, namespace = '' } = object.metadata;
  const { kind, name: role } = recordOf(roleRef);
  return {
    ...{ name, namespace, role: { kind: textOf(kind), name: textOf(role) } },
    subjects: recordsOf(subjects).flatMap((subject) => subjectOf(subject, namespace) ?? []),
  };
}

function subjectOf(subject: JsonObject, namespace: string): Subject | undefined {
  const [kind, name] = [textOf(subject.kind), textOf(subject.name)];
  const shown = `${kind} ${goQuote(name)}`;
  if (kind === 'User') return { kind, name, key: `U${name}`, shown };
  if (kind === 'Group') return { kind, name, key: `G${name}`, shown };
  const place = textOf(subject.namespace) || namespace;
  if (kind !== 'ServiceAccount' || place === '') return undefined;
  const key = `U${serviceAccountUser(place, name)}`;
  return { kind, name, key, shown: `${kind} ${goQuote(`${name}/${place}`)}` };
}

/** Which binding gives a rule, and by which subject, in upstream's words. */
function describe({ name, namespace, role, subjects }: Binding, keys: readonly string[]): string {
  const subject = subjects.find(({ key }) => keys.includes(key));
  const binding =
    namespace === '' ? `ClusterRoleBinding ${goQuote(name)}` : `RoleBinding ${goQuote(`${name}/${namespace}`)}`;
  return `${binding} of ${role.kind} ${goQuote(role.name)} to ${subject?.shown}`;
}
