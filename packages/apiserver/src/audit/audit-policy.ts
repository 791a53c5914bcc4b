import type { UserInfo } from '../authentication/user-info.js';
import type { RequestInfo } from '../http/request-info.js';
import { dnsSubdomain } from '../schema/name-rules.js';

/** How much of a request is recorded. */
export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';

/** When an event is recorded: on arrival, with the head of a long answer, at the end, or when the server failed. */
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';

/** Which requests are recorded, and how (`audit.k8s.io/v1` `Policy`). */
export interface AuditPolicy {
  readonly apiVersion?: 'audit.k8s.io/v1';
  readonly kind?: 'Policy';
  readonly metadata?: object;
  /** The first rule that matches a request decides. A request that matches none is not recorded. */
  readonly rules: readonly AuditRule[];
  /** Stages that are never recorded. @default none */
  readonly omitStages?: readonly AuditStage[];
  /** Leaves `metadata.managedFields` out of objects. @default false */
  readonly omitManagedFields?: boolean;
}

/** A rule matches a request that all its fields match; a field that is left out matches everything. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly AuditResources[];
  /** `''` matches what lives in no namespace. */
  readonly namespaces?: readonly string[];
  /** Paths, with `*` at the end for all below: `/healthz*`. */
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly AuditStage[];
  /** @default that of the policy */
  readonly omitManagedFields?: boolean;
}

/** Resources of one API group. */
export interface AuditResources {
  /** `''` for the core group, `*` for all. @default '' */
  readonly group?: string;
  /** `pods`, `pods/log`, `pods/*`, `*\/scale` or `*`. @default all */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** How one request is recorded. */
export interface AuditRuling {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<string>;
  readonly omitManagedFields: boolean;
}

const levels = ['None', 'Metadata', 'Request', 'RequestResponse'];
const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];

/** Whether a level records at least as much as another. */
export function records(level: AuditLevel, least: AuditLevel): boolean {
  return levels.indexOf(level) >= levels.indexOf(least);
}

/** Finds how requests are recorded. */
export class PolicyEvaluator {
  readonly #rules: readonly { readonly rule: AuditRule; readonly ruling: AuditRuling }[];
  readonly #default: AuditRuling;

  /** Throws a `TypeError` for a policy that kube-apiserver would not start with, in its words. */
  constructor(policy: AuditPolicy) {
    const problems = problemsOf(policy);
    if (problems.length > 0) throw new TypeError(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
    if (policy.rules.length === 0) throw new TypeError('loaded illegal policy with 0 rules');
    const { omitStages = [], omitManagedFields = false } = policy;
    this.#default = { level: 'None', omitStages: new Set(omitStages), omitManagedFields };
    this.#rules = policy.rules.map((rule) => ({
      rule,
      ruling: {
        level: rule.level,
        omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])]),
        omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
      },
    }));
  }

  /** @param user undefined for a request whose credentials were refused */
  ruling(user: UserInfo | undefined, info: RequestInfo): AuditRuling {
    return this.#rules.find(({ rule }) => matches(rule, user, info))?.ruling ?? this.#default;
  }
}

function matches(rule: AuditRule, user: UserInfo | undefined, info: RequestInfo): boolean {
  const { users = [], userGroups = [], verbs = [], namespaces = [], resources = [], nonResourceURLs = [] } = rule;
  if (users.length > 0 && (user === undefined || !users.includes(user.username))) return false;
  if (userGroups.length > 0 && !user?.groups?.some((group) => userGroups.includes(group))) return false;
  if (verbs.length > 0 && !verbs.includes(info.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) {
    if (!info.isResource || (namespaces.length > 0 && !namespaces.includes(info.namespace))) return false;
    return resources.length === 0 || resources.some((one) => matchesResource(one, info));
  }
  if (nonResourceURLs.length === 0) return true;
  return !info.isResource && nonResourceURLs.some((url) => matchesPath(url, info.path));
}

function matchesResource(
  { group = '', resources = [], resourceNames = [] }: AuditResources,
  info: RequestInfo,
): boolean {
  if (group !== '*' && group !== info.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
  const { resource, subresource } = info;
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  return resources.some(
    (one) =>
      one === '*' ||
      one === combined ||
      (subresource !== '' && one === `*/${subresource}`) ||
      (one.endsWith('/*') && one.slice(0, -2) === resource),
  );
}

function matchesPath(url: string, path: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')));
}

/** What is wrong with a policy (`ValidatePolicy`). */
function problemsOf(policy: AuditPolicy): string[] {
  const rules = policy.rules.flatMap((rule, index) => {
    const at = `rules[${index}]`;
    const { level, nonResourceURLs = [], resources = [], namespaces = [], omitStages } = rule;
    const isBoth = nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0);
    const both = 'rules cannot apply to both regular resources and non-resource URLs';
    return [
      ...levelProblems(level, at),
      ...nonResourceURLs.flatMap((url, i) => urlProblems(url, `${at}.nonResourceURLs[${i}]`)),
      ...resources.flatMap((one) => resourceProblems(one, `${at}.resources`)),
      ...stageProblems(omitStages, `${at}.omitStages`),
      ...(isBoth ? [`${at}.nonResourceURLs: Invalid value: ${JSON.stringify(nonResourceURLs)}: ${both}`] : []),
    ];
  });
  return [...stageProblems(policy.omitStages, 'omitStages'), ...rules];
}

function levelProblems(level: string | undefined, at: string): string[] {
  if (level === undefined || level === '') return [`${at}.level: Required value`];
  if (levels.includes(level)) return [];
  const supported = levels.map((one) => `"${one}"`).join(', ');
  return [`${at}.level: Unsupported value: ${JSON.stringify(level)}: supported values: ${supported}`];
}

function urlProblems(url: string, at: string): string[] {
  if (url === '*') return [];
  const problem = (text: string) => `${at}: Invalid value: ${JSON.stringify(url)}: ${text}`;
  return [
    ...(url.startsWith('/') ? [] : [problem("non-resource URL rules must begin with a '/' character")]),
    ...(url.slice(0, -1).includes('*')
      ? [problem("non-resource URL wildcards '*' must be the final character of the rule")]
      : []),
  ];
}

function resourceProblems({ group = '', resources = [], resourceNames = [] }: AuditResources, at: string): string[] {
  const wrong = group === '' || group === '*' ? [] : dnsSubdomain(group);
  const names = JSON.stringify(resourceNames);
  return [
    ...(wrong.length > 0 ? [`${at}.group: Invalid value: ${JSON.stringify(group)}: ${wrong.join(',')}`] : []),
    ...(resourceNames.length > 0 && resources.length === 0
      ? [`${at}.resourceNames: Invalid value: ${names}: using resourceNames requires at least one resource`]
      : []),
  ];
}

function stageProblems(given: readonly string[] = [], at: string): string[] {
  return given.flatMap((stage, i) =>
    stages.includes(stage)
      ? []
      : [`${at}[${i}]: Invalid value: ${JSON.stringify(stage)}: allowed stages are ${stages.join(',')}`],
  );
}
