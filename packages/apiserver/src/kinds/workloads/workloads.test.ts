import '../../resource/kind-parts.fixture.js';
import type { Json, JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { builtInResources } from '../../resource/built-in/built-in-resource.js';
import { formatFieldError } from '../../status/field-error.js';
import { atOnce } from '../../steps.js';
import { withValue } from '../../verbs/scale.js';
import type { PrepareContext } from '../kind-rules.js';

const labels = { app: 'a' };
const podSpec = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels }, spec: podSpec };
const running = { selector: { matchLabels: labels }, template };
const once = { template: { spec: { ...podSpec, restartPolicy: 'Never' } } };
/** The least that each kind takes. */
const least: Readonly<Record<string, JsonObject>> = {
  '/pods': { spec: podSpec },
  '/podtemplates': { template },
  '/replicationcontrollers': { spec: { template } },
  'apps/daemonsets': { spec: running },
  'apps/deployments': { spec: running },
  'apps/replicasets': { spec: running },
  'apps/statefulsets': { spec: running },
  'batch/cronjobs': { spec: { schedule: '@daily', jobTemplate: { spec: once } } },
  'batch/jobs': { spec: once },
  'autoscaling/horizontalpodautoscalers': {
    spec: { maxReplicas: 1, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
  },
  'policy/poddisruptionbudgets': { spec: { selector: { matchLabels: labels } } },
  'scheduling.k8s.io/priorityclasses': { value: 1 },
};
const context: PrepareContext = {
  now: '2026-01-01T00:00:00Z',
  subresource: '',
  dryRun: false,
  warn: () => {},
  objects: () => [],
};

/** What a server makes of an object on its way in. */
function admitted(table: string, sent: JsonObject): { object: JsonObject; errors: string[] } {
  const resource = builtInResources().find((one) => one.table === table);
  if (resource === undefined) throw new Error(`there is no ${table}`);
  const { apiVersion, kind, rules, schema } = resource;
  const { object } = atOnce(schema.read({ apiVersion, kind, metadata: { name: 'x', uid: 'u' }, ...sent }));
  const filled = rules.defaults?.(object) ?? object;
  const prepared = rules.prepare?.(filled, undefined, context) ?? filled;
  return { object: prepared, errors: (rules.check?.(prepared, undefined, '') ?? []).map(formatFieldError) };
}

test.each(Object.keys(least))('the least of %s is taken, and has nothing left to fill in', (table) => {
  const { object, errors } = admitted(table, least[table] as JsonObject);
  expect(errors).toEqual([]);
  const resource = builtInResources().find((one) => one.table === table);
  expect(resource?.rules.defaults?.(object) ?? object).toBe(object);
});

test.each([
  ['/pods', 'spec.containers', [], 'spec.containers: Required value'],
  ['/pods', 'spec.nodeName', 'A', /^spec.nodeName: Invalid value: "A"/],
  ['/podtemplates', 'template.spec.containers', [], 'template.spec.containers: Required value'],
  [
    '/replicationcontrollers',
    'spec.replicas',
    -1,
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ],
  ['apps/daemonsets', 'spec.selector', {}, 'spec.selector: Invalid value: {}: empty selector is invalid for daemonset'],
  [
    'apps/deployments',
    'spec.selector.matchLabels',
    { app: 'b' },
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
  ],
  [
    'apps/replicasets',
    'spec.template.spec.restartPolicy',
    'Never',
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  [
    'apps/statefulsets',
    'spec.podManagementPolicy',
    'x',
    "spec.podManagementPolicy: Invalid value: \"x\": must be 'OrderedReady' or 'Parallel'",
  ],
  [
    'batch/cronjobs',
    'spec.schedule',
    'x',
    'spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]',
  ],
  [
    'batch/jobs',
    'spec.template.spec.restartPolicy',
    'Always',
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  [
    'autoscaling/horizontalpodautoscalers',
    'spec.maxReplicas',
    0,
    'spec.maxReplicas: Required value: must be set and greater than 0',
  ],
  [
    'policy/poddisruptionbudgets',
    'spec.minAvailable',
    '200%',
    'spec.minAvailable: Invalid value: "200%": must not be greater than 100%',
  ],
  [
    'scheduling.k8s.io/priorityclasses',
    'value',
    2e9,
    'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
  ],
] as const)('%s with %s as %j is refused', (table, path, value, expected) => {
  const { errors } = admitted(table, withValue(least[table] as JsonObject, path, value as Json));
  if (typeof expected === 'string') expect(errors).toContain(expected);
  else expect(errors.join('\n')).toMatch(expected);
});

test('a Job selects its Pods by what it gives them', () => {
  const { object } = admitted('batch/jobs', least['batch/jobs'] as JsonObject);
  expect(object).toMatchObject({
    spec: {
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
      template: { metadata: { labels: { 'job-name': 'x', 'controller-uid': 'u' } } },
    },
  });
});

test('a Pod begins pending', () => {
  const { object } = admitted('/pods', least['/pods'] as JsonObject);
  expect(object).toMatchObject({
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  });
});
