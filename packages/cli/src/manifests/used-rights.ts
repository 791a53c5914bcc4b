import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PolicyRule } from 'riata/patterns';
import { CommandError } from '../command/command-error.js';

/** A rule about paths of the API server. */
export interface PathRule {
  readonly nonResourceURLs: readonly string[];
  readonly verbs: readonly string[];
}

/** The rights that a test suite used, as `JSON.stringify(usedRights(env.requests))` of `@riata/testing` writes them. */
export interface UsedRightsData {
  readonly clusterRules: readonly (PolicyRule | PathRule)[];
  readonly namespaceRules: Readonly<Record<string, readonly (PolicyRule | PathRule)[]>>;
}

/** Rules by which an operator did its work, whatever the namespaces of the tests were. */
export interface TestedRights {
  readonly rules: readonly PolicyRule[];
  readonly pathRules: readonly PathRule[];
}

/** Reads the file of `--from-tests`: one value of `usedRights`, or a list of several. */
export async function readTestedRights(cwd: string, file: string): Promise<TestedRights> {
  const path = resolve(cwd, file);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`${path}: cannot be read: ${(error as Error).message}`, { cause: error });
  });
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${path}: malformed JSON: ${(error as Error).message}`, { cause: error });
  }
  const parts: readonly unknown[] = Array.isArray(data) ? data : [data];
  if (parts.length === 0 || !parts.every(isUsedRights)) {
    throw new CommandError(
      `${path}: must have clusterRules and namespaceRules; write it in a test: JSON.stringify(usedRights(env.requests))`,
    );
  }
  return testedRights(parts as readonly UsedRightsData[]);
}

/**
 * The rights of suites as one set. Leases are left out: an operator has those of its own election anyway, in its own
 * namespace, whichever namespace a test had.
 */
export function testedRights(parts: readonly UsedRightsData[]): TestedRights {
  const all = parts.flatMap(({ clusterRules, namespaceRules }) => [
    ...clusterRules,
    ...Object.values(namespaceRules).flat(),
  ]);
  const isLease = ({ apiGroups, resources }: PolicyRule) =>
    apiGroups.includes('coordination.k8s.io') && resources.every((resource) => resource === 'leases');
  return {
    rules: all.filter((rule): rule is PolicyRule => 'resources' in rule && !isLease(rule)),
    pathRules: all.filter((rule): rule is PathRule => 'nonResourceURLs' in rule),
  };
}

function isUsedRights(value: unknown): value is UsedRightsData {
  if (typeof value !== 'object' || value === null) return false;
  const { clusterRules, namespaceRules } = value as Partial<UsedRightsData>;
  const lists = [clusterRules, ...Object.values(namespaceRules ?? [undefined])];
  return lists.every((list) => Array.isArray(list) && list.every(isRule));
}

function isRule(rule: unknown): boolean {
  const { verbs, resources, apiGroups, nonResourceURLs } = (rule ?? {}) as Partial<PolicyRule & PathRule>;
  return isTexts(verbs) && ((isTexts(resources) && isTexts(apiGroups)) || isTexts(nonResourceURLs));
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
