import type { MutatingWebhook, RuleWithOperations } from '../../kinds/generated/types/admissionregistration-v1.js';
import { durationMs } from '../../object/duration.js';
import type { KindRef } from '../../object/kind.js';
import { dns1123SubdomainProblems } from '../../object/names.js';
import type { WebhookTarget } from '../webhook-definition.js';
import type { AdmissionOperation } from './admission-context.js';
import type { AdmissionCallRules } from './admission-options.js';
import type { RawHandler } from './raw-handler.js';

/** The kinds that a definition is about; `plural` may be `*`. */
export interface AdmittedResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/** A handler of a definition, in the order of definition. */
export interface AdmissionHandler {
  readonly type: 'mutating' | 'validating';
  readonly on: readonly AdmissionOperation[];
  /** `''`: the object itself. */
  readonly subresource: string;
  readonly rules: AdmissionCallRules;
  readonly name: string | undefined;
  readonly path: string | undefined;
  readonly run:
    | { readonly as: 'mutator'; readonly call: (draft: never, context: never) => unknown }
    | { readonly as: 'validator'; readonly call: (context: never) => unknown }
    | { readonly as: 'raw'; readonly call: RawHandler };
}

/** One entry of a webhook configuration, with the handlers behind it: one call of the API server runs them all. */
export interface AdmissionEntry {
  readonly type: 'mutating' | 'validating';
  /** As in the configuration: `validate.site.example.com`. */
  readonly name: string;
  readonly path: string;
  readonly timeoutMs: number;
  readonly failsOpen: boolean;
  readonly mayWrite: boolean;
  readonly handlers: readonly AdmissionHandler[];
  readonly target: WebhookTarget;
}

/** The names of a definition. */
export interface EntryNames {
  /** Of the definition. */
  readonly name: string;
  /** The domain that the names of its webhooks end with. */
  readonly domain: string;
  /** Of its paths, after the verb: `example-com-v1-site`. */
  readonly pathName: string;
}

/** Handlers with the same options share an entry, so that all their denials come in one answer. */
export function entriesOf(
  handlers: readonly AdmissionHandler[],
  resources: readonly AdmittedResource[],
  names: EntryNames,
): readonly AdmissionEntry[] {
  const groups = new Map<string, AdmissionHandler[]>();
  for (const [index, handler] of handlers.entries()) {
    const alone = handler.run.as === 'raw' ? index : '';
    const key = JSON.stringify([handler.type, handler.name, handler.path, alone, Object.entries(handler.rules).sort()]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [handler]);
    else group.push(handler);
  }
  const counts = { mutating: 0, validating: 0 };
  return [...groups.values()].map((group) => {
    const [{ type, name }] = group as [AdmissionHandler];
    counts[type] += 1;
    const suffix = name ?? (counts[type] === 1 ? '' : String(counts[type]));
    return entryOf(group, resources, names, suffix);
  });
}

function entryOf(
  handlers: readonly AdmissionHandler[],
  resources: readonly AdmittedResource[],
  { name, domain, pathName }: EntryNames,
  suffix: string,
): AdmissionEntry {
  const [{ type, rules, path: ownPath }] = handlers as readonly [AdmissionHandler];
  const verb = type === 'mutating' ? 'mutate' : 'validate';
  const ending = suffix === '' ? '' : `-${suffix}`;
  const fullName = `${verb}${ending}.${name}.${domain}`;
  const path = ownPath ?? `/${verb}-${pathName}${ending}`;
  const problems = dns1123SubdomainProblems(fullName);
  if (problems.length > 0) {
    throw new TypeError(`admit: ${JSON.stringify(fullName)} is not a valid webhook name: ${problems.join('; ')}`);
  }
  const { failurePolicy = 'fail', sideEffects = 'none', matchPolicy = 'equivalent', timeout = '10s' } = rules;
  const timeoutMs = durationMs(timeout);
  const { matchConditions, namespaceSelector, objectSelector, admissionReviewVersions = ['v1'] } = rules;
  const webhook: Omit<MutatingWebhook, 'clientConfig' | 'reinvocationPolicy'> = {
    name: fullName,
    rules: rulesOf(handlers, resources),
    failurePolicy: failurePolicy === 'fail' ? 'Fail' : 'Ignore',
    matchPolicy: matchPolicy === 'exact' ? 'Exact' : 'Equivalent',
    sideEffects: sideEffects === 'none' ? 'None' : 'NoneOnDryRun',
    timeoutSeconds: timeoutMs / 1000,
    admissionReviewVersions,
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(matchConditions === undefined
      ? {}
      : { matchConditions: Object.entries(matchConditions).map(([id, expression]) => ({ name: id, expression })) }),
  };
  const reinvocationPolicy = rules.reinvocationPolicy === 'ifNeeded' ? 'IfNeeded' : 'Never';
  return {
    type,
    name: fullName,
    path,
    timeoutMs,
    failsOpen: failurePolicy === 'ignore',
    mayWrite: sideEffects === 'noneOnDryRun',
    handlers,
    target: type === 'mutating' ? { type, path, webhook: { ...webhook, reinvocationPolicy } } : { type, path, webhook },
  };
}

/** One rule for each API version and subresource. */
function rulesOf(
  handlers: readonly AdmissionHandler[],
  resources: readonly AdmittedResource[],
): readonly RuleWithOperations[] {
  const order: readonly AdmissionOperation[] = ['create', 'update', 'delete', 'connect'];
  const operations = new Map<string, Set<AdmissionOperation>>();
  for (const { subresource, on } of handlers) {
    const known = operations.get(subresource) ?? new Set();
    for (const operation of on) known.add(operation);
    operations.set(subresource, known);
  }
  const plurals = new Map<string, { group: string; version: string; names: string[] }>();
  for (const { group, version, plural } of resources) {
    const key = `${group}/${version}`;
    const known = plurals.get(key);
    if (known === undefined) plurals.set(key, { group, version, names: [plural] });
    else known.names.push(plural);
  }
  const scope = handlers[0]?.rules.scope;
  return [...operations].flatMap(([subresource, ops]) =>
    [...plurals.values()].map(({ group, version, names }) => ({
      apiGroups: [group],
      apiVersions: [version],
      resources: names.map((plural) => (subresource === '' ? plural : `${plural}/${subresource}`)),
      operations: order.filter((operation) => ops.has(operation)).map((operation) => operation.toUpperCase()),
      scope: scope === undefined ? '*' : scope === 'cluster' ? 'Cluster' : 'Namespaced',
    })),
  );
}

/** The names of a definition for kinds, by what `admit` was given. */
export function namesOf(kinds: readonly KindRef[], name: string | undefined): EntryNames {
  const [first] = kinds as readonly [KindRef];
  const lower = kinds.map(({ kind }) => kind.toLowerCase());
  const isOneGroup = kinds.every(({ group }) => group === first.group);
  const domain = isOneGroup ? first.group || 'core' : 'riata.dev';
  const group = first.group === '' ? '' : first.group.replaceAll('.', '-');
  const own = `${group}-${first.version}-${lower.join('-')}`;
  return { name: name ?? lower.join('-'), domain, pathName: name === undefined ? own : `${own}-${name}` };
}
