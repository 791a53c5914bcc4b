import { type JsonObject, parseQuantity } from 'riata/object';
import { recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { type FieldError, invalid, required } from '../../status/field-error.js';
import type { KindRules } from '../kind-rules.js';
import { checkAmount, checkResourceName } from '../pods/checks/resource-checks.js';
import { rounded } from '../pods/pod-defaults.js';

const ofPods = ['pods'];
const computed = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const ofClaims = ['persistentvolumeclaims', 'requests.storage'];
const others = [
  ...['ephemeral-storage', 'requests.ephemeral-storage', 'limits.ephemeral-storage', 'resourcequotas', 'services'],
  ...['replicationcontrollers', 'secrets', 'configmaps', 'services.nodeports', 'services.loadbalancers'],
];
const standard: ReadonlySet<string> = new Set([...ofPods, ...computed, ...ofClaims, ...others]);

/** Scopes, and the standard resources that each of them can be about. */
const scopes: Readonly<Record<string, readonly string[]>> = {
  Terminating: [...ofPods, ...computed],
  NotTerminating: [...ofPods, ...computed],
  BestEffort: ofPods,
  NotBestEffort: [...ofPods, ...computed],
  PriorityClass: [...ofPods, ...computed],
  CrossNamespacePodAffinity: [...ofPods, ...computed],
  VolumeAttributesClass: ofClaims,
};
const withValues = ['PriorityClass', 'VolumeAttributesClass'];
const exclusive = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

export const resourceQuotaRules: KindRules = {
  defaults: { 'spec.hard': rounded, 'status.hard': rounded, 'status.used': rounded },
  validate(object) {
    const spec = recordOf(object.spec);
    return [...checkAmounts(recordOf(spec.hard), 'spec.hard'), ...checkScopes(spec), ...checkSelector(spec)];
  },
  validateUpdate(object, before) {
    const of = (one: JsonObject) => stringsOf(recordOf(one.spec).scopes);
    const isSame = new Set([...of(object), ...of(before)]).size === new Set(of(before)).size;
    const isWhole = new Set(of(object)).size === new Set(of(before)).size;
    return isSame && isWhole ? [] : [invalid('spec.scopes', shown(of(object)), 'field is immutable')];
  },
  validateStatus(object) {
    const { hard, used } = recordOf(object.status);
    return [...checkAmounts(recordOf(hard), 'status.hard'), ...checkAmounts(recordOf(used), 'status.used')];
  },
  warnings(object, before) {
    if (before !== undefined) return [];
    const hard = recordOf(recordOf(object.spec).hard);
    return ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => {
      const asked = hard[`requests.${name}`] === undefined && name !== 'ephemeral-storage' ? name : `requests.${name}`;
      const [request, limit] = [hard[asked], hard[`limits.${name}`]];
      if (request === undefined || limit === undefined) return [];
      if (parseQuantity(String(request)).compare(String(limit)) <= 0) return [];
      return [`ResourceQuota ${asked} (${request}) should be less than limits.${name} (${limit})`];
    });
  },
};

function checkAmounts(hard: JsonObject, path: string): FieldError[] {
  return Object.entries(hard).flatMap(([name, amount]) => {
    const at = `${path}[${name}]`;
    const errors = checkResourceName(name, at);
    if (!name.includes('/') && !isStandard(name)) {
      errors.push(invalid(at, name, 'must be a standard resource for quota'));
    }
    return [...errors, ...checkAmount(name, amount, at)];
  });
}

function isStandard(name: string): boolean {
  return standard.has(name) || name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');
}

/** Go does not distinguish an empty list from a missing one. */
function shown(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list;
}

function checkScopes(spec: JsonObject): FieldError[] {
  const given = stringsOf(spec.scopes);
  const refuse = (detail: string) => invalid('spec.scopes', given, detail);
  return [
    ...given.flatMap((scope) => [
      ...(Object.hasOwn(scopes, scope) ? [] : [refuse('unsupported scope')]),
      ...misapplied(scope, spec).map(() => refuse('unsupported scope applied to resource')),
    ]),
    ...conflicts(given).map(() => refuse('conflicting scopes')),
  ];
}

/** Standard resources that a scope has nothing to do with. */
function misapplied(scope: string, { hard }: JsonObject): readonly string[] {
  const possible = scopes[scope];
  return Object.keys(recordOf(hard)).filter((name) => isStandard(name) && !(possible?.includes(name) ?? true));
}

function conflicts(given: readonly string[]): readonly unknown[] {
  return exclusive.filter((pair) => pair.every((scope) => given.includes(scope)));
}

function checkSelector(spec: JsonObject): FieldError[] {
  const path = 'spec.scopeSelector.matchExpressions';
  const expressions = recordsOf(recordOf(spec.scopeSelector).matchExpressions);
  const names = expressions.map(({ scopeName }) => textOf(scopeName));
  return [
    ...expressions.flatMap((one, i) => checkExpression(one, names[i] ?? '', spec, path)),
    ...conflicts(names).map(() => invalid(path, shown(stringsOf(spec.scopes)), 'conflicting scopes')),
  ];
}

function checkExpression(one: JsonObject, scope: string, spec: JsonObject, path: string): FieldError[] {
  const [operator, values] = [textOf(one.operator), stringsOf(one.values)];
  const errors: FieldError[] = [];
  if (!Object.hasOwn(scopes, scope)) errors.push(invalid(`${path}.scopeName`, scope, 'unsupported scope'));
  for (const _ of misapplied(scope, spec)) {
    errors.push(invalid(path, goSelector(spec), 'unsupported scope applied to resource'));
  }
  if (Object.hasOwn(scopes, scope) && !withValues.includes(scope) && operator !== 'Exists') {
    const names = ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort'].map((n) => `ResourceQuotaScope${n}`);
    const all = `${names.join(', ')} or ResourceQuotaScopeCrossNamespacePodAffinity`;
    errors.push(invalid(`${path}.operator`, operator, `must be 'Exists' when scope is any of ${all}`));
  }
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    if (values.length === 0) errors.push(required(`${path}.values`, detail));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) errors.push(invalid(`${path}.values`, values, detail));
  } else errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  return errors;
}

/** As Go prints what has no names for JSON. */
function goSelector(spec: JsonObject): object {
  const expressions = recordsOf(recordOf(spec.scopeSelector).matchExpressions);
  return {
    MatchExpressions: expressions.map(({ scopeName, operator, values }) => ({
      ScopeName: textOf(scopeName),
      Operator: textOf(operator),
      Values: values ?? null,
    })),
  };
}
