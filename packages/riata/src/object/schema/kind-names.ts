import { dns1035LabelProblems, dns1123SubdomainProblems } from '../names.js';
import type { Problems } from './schema-error.js';

/** The names of a kind, with all defaults filled in. */
export interface KindNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** The plural of a kind in lower case, as English mostly has it: foos, policies, ingresses, gateways. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
}

const versionForm = /^v[1-9]\d*(?:(?:alpha|beta)[1-9]\d*)?$/;
const reserved = /(?:^|\.)(?:k8s|kubernetes)\.io$/;

/** Notes a version that is not of the form that Kubernetes sorts by. */
export function checkVersionName(version: string, path: string, problems: Problems): void {
  if (versionForm.test(version)) return;
  problems.add(path, `must be a version such as v1, v1beta1 or v2alpha3, got ${JSON.stringify(version)}`);
}

/** Notes every name that an API server would refuse, with the option it came by. */
export function checkNames(names: KindNames, annotations: Readonly<Record<string, string>>, problems: Problems): void {
  const { group, kind, plural } = names;
  const [groupProblem] = dns1123SubdomainProblems(group);
  if (groupProblem !== undefined || !group.includes('.')) {
    const rule = groupProblem ?? 'must have a dot, as a domain of yours does';
    problems.add('group', `${rule}, e.g. "apps.example.com"; got ${JSON.stringify(group)}`);
  } else if (reserved.test(group) && annotations['api-approved.kubernetes.io'] === undefined) {
    problems.add(
      'group',
      `${group} is reserved for Kubernetes; use a domain of your own, or set the annotation ` +
        '"api-approved.kubernetes.io" to "unapproved, …" and why, or to the URL of the approval',
    );
  }
  checkVersionName(names.version, 'version', problems);
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind) || kind.length > 63) {
    problems.add(
      'kind',
      `must be letters and digits in CamelCase, at most 63, e.g. "CronTab"; got ${JSON.stringify(kind)}`,
    );
    return;
  }
  const rest: readonly (readonly [string, string])[] = [
    ['plural', plural],
    ['singular', names.singular],
    ...names.shortNames.map((name, index) => [`shortNames[${index}]`, name] as const),
    ...names.categories.map((name, index) => [`categories[${index}]`, name] as const),
  ];
  for (const [path, name] of rest) {
    const [problem] = dns1035LabelProblems(name);
    if (problem !== undefined) problems.add(path, `${problem}; got ${JSON.stringify(name)}`);
  }
}
