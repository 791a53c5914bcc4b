import { expect, test } from 'vitest';
import { parseRequestInfo } from '../http/request-info.js';
import { type AuditPolicy, type AuditRule, PolicyEvaluator } from './audit-policy.js';

const user = { username: 'jane', groups: ['developers', 'system:authenticated'] };
const levelOf = (rule: Omit<AuditRule, 'level'>, path: string, method = 'GET') =>
  new PolicyEvaluator({ rules: [{ level: 'Metadata', ...rule }] }).ruling(user, parseRequestInfo(method, path)).level;

const pods = '/api/v1/namespaces/shop/pods';
const scale = '/apis/apps/v1/namespaces/shop/deployments/web/scale';

test.each<[Omit<AuditRule, 'level'>, string, boolean]>([
  [{}, pods, true],
  [{ users: ['jane'] }, pods, true],
  [{ users: ['joe'] }, pods, false],
  [{ userGroups: ['other', 'developers'] }, pods, true],
  [{ userGroups: ['other'] }, pods, false],
  [{ verbs: ['list'] }, pods, true],
  [{ verbs: ['get'] }, pods, false],
  [{ namespaces: ['shop'] }, pods, true],
  [{ namespaces: [''] }, '/api/v1/nodes', true],
  [{ namespaces: [''] }, pods, false],
  [{ namespaces: ['shop'] }, '/version', false],
  [{ resources: [{ resources: ['pods'] }] }, pods, true],
  [{ resources: [{ resources: ['pods'] }] }, `${pods}/a/log`, false],
  [{ resources: [{ resources: ['pods/*'] }] }, `${pods}/a/log`, true],
  [{ resources: [{ resources: ['*/scale'] }] }, scale, false],
  [{ resources: [{ group: 'apps', resources: ['*/scale'] }] }, scale, true],
  [{ resources: [{ group: '*', resources: ['*'] }] }, scale, true],
  [{ resources: [{ group: 'apps' }] }, scale, true],
  [{ resources: [{ resources: ['pods'], resourceNames: ['a'] }] }, `${pods}/a`, true],
  [{ resources: [{ resources: ['pods'], resourceNames: ['a'] }] }, `${pods}/b`, false],
  [{ nonResourceURLs: ['/healthz*'] }, '/healthz/etcd', true],
  [{ nonResourceURLs: ['/healthz'] }, '/healthz/etcd', false],
  [{ nonResourceURLs: ['*'] }, pods, false],
])('%j on %s: %s', (rule, path, matches) => {
  expect(levelOf(rule, path)).toBe(matches ? 'Metadata' : 'None');
});

test('the first rule that matches decides, and stages add up', () => {
  const policy: AuditPolicy = {
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [
      { level: 'None', users: ['joe'] },
      { level: 'Request', users: ['jane'], omitStages: ['Panic'], omitManagedFields: false },
      { level: 'Metadata' },
    ],
  };
  const evaluator = new PolicyEvaluator(policy);
  const info = parseRequestInfo('GET', pods);
  expect(evaluator.ruling(user, info)).toEqual({
    ...{ level: 'Request', omitManagedFields: false },
    omitStages: new Set(['RequestReceived', 'Panic']),
  });
  expect(evaluator.ruling({ username: 'joe' }, info).level).toBe('None');
  expect(evaluator.ruling(undefined, info)).toMatchObject({ level: 'Metadata', omitManagedFields: true });
});

test.each<[object, string]>([
  [{ rules: [] }, 'loaded illegal policy with 0 rules'],
  [{ rules: [{}] }, 'rules[0].level: Required value'],
  [
    { rules: [{ level: 'All' }] },
    'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
  ],
  [
    { rules: [{ level: 'None', nonResourceURLs: ['a', '/*/b'] }] },
    `[rules[0].nonResourceURLs[0]: Invalid value: "a": non-resource URL rules must begin with a '/' character, rules[0].nonResourceURLs[1]: Invalid value: "/*/b": non-resource URL wildcards '*' must be the final character of the rule]`,
  ],
  [
    { rules: [{ level: 'None', resources: [{ resourceNames: ['a'] }] }] },
    'rules[0].resources.resourceNames: Invalid value: ["a"]: using resourceNames requires at least one resource',
  ],
  [
    { rules: [{ level: 'None' }], omitStages: ['Never'] },
    'omitStages[0]: Invalid value: "Never": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
  ],
])('%j is refused', (policy, message) => {
  expect(() => new PolicyEvaluator(policy as AuditPolicy)).toThrow(new TypeError(message));
});
