import { baselineChecks } from './baseline-checks.js';
import { restrictedChecks } from './restricted-checks.js';
import { seccompChecks } from './seccomp-checks.js';
import type { CheckedPod, SecurityCheck, Violation } from './security-check.js';
import type { LevelVersion } from './security-policy.js';

const byId = (a: SecurityCheck, b: SecurityCheck) => (a.id < b.id ? -1 : 1);
const all = [...baselineChecks, ...restrictedChecks, ...seccompChecks];
/** Baseline first, each level by name. */
const ordered = ['baseline', 'restricted'].flatMap((level) => all.filter((one) => one.level === level).sort(byId));

/** How a Pod violates a level of the Pod Security Standards (`EvaluatePod`). */
export function checkPodSecurity({ level, minor }: LevelVersion, pod: CheckedPod): readonly Violation[] {
  if (level === 'privileged') return [];
  const asked = ordered.filter((one) => level === 'restricted' || one.level === 'baseline');
  const current = asked.flatMap(({ id, versions }) => {
    const version = versions.findLast((one) => one.minor <= minor);
    return version === undefined ? [] : [{ id, ...version }];
  });
  const overridden = new Set(current.map(({ overrides }) => overrides));
  return current.flatMap(({ id, check }) => (overridden.has(id) ? [] : (check(pod) ?? [])));
}

/** `privileged (container "a" must not …), hostPort (…)`. */
export function printDetails(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
}

/** `privileged, hostPort`. */
export function printReasons(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ');
}
