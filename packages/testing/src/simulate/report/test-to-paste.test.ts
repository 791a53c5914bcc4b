import { expect, test } from 'vitest';
import { RequestReader } from '../../requests/request-target.js';
import { History } from '../run/history.js';
import type { RunResult } from '../run/run-result.js';
import type { RunPlan } from '../run/simulated-fault.js';
import type { StoryStep } from '../run/story-line.js';
import { storedText } from './stored-text.js';
import { testToPaste } from './test-to-paste.js';

const reader = new RequestReader();
const maps = '/api/v1/namespaces/default/configmaps';
const merge = 'application/merge-patch+json';

const step = (method: string, path: string, body: unknown = '', more: Partial<StoryStep> = {}): StoryStep => {
  const text = body === '' ? '' : JSON.stringify(body);
  return { target: reader.read(method, path, text), contentType: merge, body: text, isForced: false, ...more };
};

const page = (data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'page' },
  data,
});

const runOf = (steps: readonly StoryStep[], plan: RunPlan, advances: RunResult['advances'] = []): RunResult => ({
  ...{ plan, history: new History(), steps, told: steps.length, advances, writes: [], events: [] },
  ...{ webhookCalls: 0, reconciles: 1, happened: [], states: new Map(), conditions: new Set() },
  ...{ created: new Set(), removed: new Map() },
});

test('a test as a formatter would leave it, with everything that the story did', () => {
  const long = 'a value that is so long that the whole object does not fit into one line of the test, as it often is';
  const steps = [
    step('POST', maps, page({ color: "it's red" })),
    step('PATCH', `${maps}/page`, { data: { 'a.b': '1' } }),
    step('PATCH', `${maps}/page`, page({ long }), { contentType: 'application/apply-patch+yaml', isForced: true }),
    step('PATCH', `${maps}/page/status`, { status: { size: 1 } }),
    step('PUT', `${maps}/page`, { ...page({}), metadata: { name: 'page', managedFields: [] } }),
    step('DELETE', `${maps}/other`, { kind: 'DeleteOptions', propagationPolicy: 'Orphan' }, { code: 404 }),
    step('DELETE', maps),
    step('DELETE', '/api/v1/nodes/one'),
  ];
  const plan: RunPlan = { seed: 1, faults: [{ kind: 'crash-after', at: 2 }] };
  expect(testToPaste(runOf(steps, plan, [{ after: 1, by: '5m' }]), 'a page differs')).toBe(`\
test('a page differs', () =>
  simulate({
    ...options, // kinds and run of the failing test
    story: async ({ client, advance }) => {
      await client.create(ConfigMap({ metadata: { namespace: 'default', name: 'page' }, data: { color: "it's red" } }));
      await advance('5m');
      await client.patch(
        ConfigMap,
        { namespace: 'default', name: 'page' },
        { type: 'merge', body: { data: { 'a.b': '1' } } },
      );
      await client.apply(
        ConfigMap({
          metadata: { namespace: 'default', name: 'page' },
          data: {
            long: 'a value that is so long that the whole object does not fit into one line of the test, as it often is',
          },
        }),
        { force: true },
      );
      await client.status.patch(
        ConfigMap,
        { namespace: 'default', name: 'page' },
        { type: 'merge', body: { status: { size: 1 } } },
      );
      await client.update({ apiVersion: 'v1', kind: 'ConfigMap', data: {}, metadata: { name: 'page' } });
      await client
        .delete(ConfigMap, { namespace: 'default', name: 'other' }, { propagationPolicy: 'Orphan' })
        .catch(() => {}); // refused with 404
      await client.deleteCollection(ConfigMap, { namespace: 'default' });
      await client.delete(Node, { name: 'one' });
    },
    replay: 'seed=1 crash-after@2',
  }));`);
});

test('a story that was stopped early is printed as far as it went', () => {
  const steps = [step('POST', maps, page({})), step('DELETE', `${maps}/page`)];
  const text = testToPaste(runOf(steps, { seed: 1, steps: 1, faults: [] }), 'x');
  expect(text).toContain('client.create');
  expect(text).not.toContain('client.delete');
});

test('what a write has changed', () => {
  const owner = { apiVersion: 'v1', kind: 'Site', name: 'blog', uid: '1', controller: true };
  const before = { ...page({ size: '1', old: 'x' }), status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'NoImage', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const after = {
    ...{ ...page({ size: '2' }), status: { conditions, at: '2026-01-01T00:00:00Z' } },
    metadata: { name: 'page', resourceVersion: '7', ownerReferences: [owner] },
  };
  expect(storedText({ before, after } as never)).toBe(
    'data.size "1" → "2", condition Ready "True" → "False NoImage", status.at = <time>, owner Site blog added, 1 more',
  );
  expect(storedText({ before, after: undefined } as never)).toBe('');
});
