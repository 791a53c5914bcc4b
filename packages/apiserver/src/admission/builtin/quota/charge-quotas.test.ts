import type { JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { amountsToJson } from './amounts.js';
import { chargeQuotas } from './charge-quotas.js';
import { evaluatorFor } from './evaluators.js';
import type { QuotaEvaluator } from './quota-evaluator.js';

const pods = evaluatorFor('', 'pods') as QuotaEvaluator;
const services = evaluatorFor('', 'services') as QuotaEvaluator;
const quota = (hard: JsonObject, used: JsonObject, spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'q' },
  spec: { hard, ...spec },
  status: { hard, used },
});
const pod = (resources: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', resources }], ...spec },
});
const create = (object: JsonObject) => ({
  operation: 'CREATE' as const,
  subresource: '',
  object,
  oldObject: undefined,
});
const decide = (of: JsonObject, object: JsonObject) => {
  const decision = chargeQuotas([of], create(object), pods, 0);
  return 'refusal' in decision ? decision.refusal : decision.charged.map(({ used }) => amountsToJson(used));
};

test('charges a request that fits, and keeps the rest of the usage', () => {
  const of = quota({ pods: '2', 'requests.cpu': '1' }, { pods: '1', 'requests.cpu': '250m', other: '7' });
  expect(decide(of, pod({ requests: { cpu: '750m' } }))).toEqual([{ pods: '2', 'requests.cpu': '1', other: '7' }]);
});

test.each([
  [
    quota({ pods: '1', 'requests.cpu': '1' }, { pods: '1', 'requests.cpu': '500m' }),
    pod({ requests: { cpu: '1' } }),
    'exceeded quota: q, requested: pods=1,requests.cpu=1, used: pods=1,requests.cpu=500m, limited: pods=1,requests.cpu=1',
  ],
  [
    quota({ 'requests.cpu': '1', 'limits.memory': '1' }, { 'requests.cpu': '0', 'limits.memory': '0' }),
    pod(),
    'failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
  ],
  [quota({ pods: '1' }, {}), pod(), 'status unknown for quota: q, resources: pods'],
] as const)('%j refuses %j', (of, object, refusal) => {
  expect(decide(of, object)).toBe(refusal);
});

test('a quota without status refuses nothing', () => {
  expect(decide({ metadata: { name: 'q' }, spec: { hard: { pods: '0' } }, status: {} }, pod())).toEqual([]);
});

test('scopes decide which Pods count', () => {
  const scoped = (scopes: string[]) => quota({ pods: '0' }, { pods: '0' }, { scopes });
  expect(decide(scoped(['BestEffort']), pod())).toMatch(/^exceeded quota/);
  expect(decide(scoped(['NotBestEffort']), pod())).toEqual([]);
  expect(decide(scoped(['Terminating']), pod({}, { activeDeadlineSeconds: 5 }))).toMatch(/^exceeded quota/);
  expect(decide(scoped(['NotTerminating', 'NotBestEffort']), pod())).toEqual([]);
});

test('an update is charged for the difference', () => {
  const service = (type: string): JsonObject => ({ spec: { type, ports: [{ port: 1 }, { port: 2 }] } });
  const of = quota({ services: '1', 'services.nodeports': '5' }, { services: '1', 'services.nodeports': '0' });
  const change = (now: string, then: string) => {
    const request = { operation: 'UPDATE' as const, subresource: '', object: service(now), oldObject: service(then) };
    const decision = chargeQuotas([of], request, services, 0);
    return 'refusal' in decision ? decision.refusal : decision.charged.map(({ used }) => amountsToJson(used));
  };
  expect(change('NodePort', 'ClusterIP')).toEqual([{ services: '1', 'services.nodeports': '2' }]);
  expect(change('ClusterIP', 'NodePort')).toEqual([]);
});
