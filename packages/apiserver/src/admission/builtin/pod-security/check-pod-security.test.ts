import { expect, test } from 'vitest';
import { checkPodSecurity, printDetails } from './check-pod-security.js';
import { policyOf, printLevel } from './security-policy.js';

const label = (name: string) => `pod-security.kubernetes.io/${name}`;

test('labels set the levels to enforce, audit and warn about', () => {
  const { policy, errors } = policyOf({ [label('enforce')]: 'baseline', [label('enforce-version')]: 'v1.25' });
  expect(errors).toEqual([]);
  expect(Object.values(policy).map(printLevel)).toEqual(['baseline:v1.25', 'privileged:latest', 'baseline:v1.25']);
  const bad = policyOf({ [label('enforce')]: 'x', [label('warn')]: 'x', [label('audit-version')]: '1' });
  expect(Object.values(bad.policy).map(printLevel)).toEqual([
    ...['restricted:latest', 'privileged:latest', 'privileged:latest'],
  ]);
  expect(bad.errors.map(({ field }) => field)).toHaveLength(3);
});

test('rules apply as of the named version', () => {
  const pod = {
    annotations: {},
    spec: { hostUsers: false, containers: [{ name: 'c', securityContext: { runAsUser: 0 } }] },
  };
  const reasons = (minor: number) => checkPodSecurity({ level: 'restricted', minor }, pod).map(({ reason }) => reason);
  expect(reasons(7)).toEqual(['runAsNonRoot != true']);
  expect(reasons(23)).toContain('runAsUser=0');
  expect(reasons(35)).not.toContain('runAsUser=0');
  expect(checkPodSecurity({ level: 'privileged', minor: Infinity }, pod)).toEqual([]);
});

test('a rule of the restricted level replaces a weaker one', () => {
  const pod = { annotations: {}, spec: { containers: [], volumes: [{ name: 'v', hostPath: { path: '/' } }] } };
  const details = (level: 'baseline' | 'restricted') => printDetails(checkPodSecurity({ level, minor: Infinity }, pod));
  expect(details('baseline')).toBe('hostPath volumes (volume "v")');
  expect(details('restricted')).toBe('restricted volume types (volume "v" uses restricted volume type "hostPath")');
});
