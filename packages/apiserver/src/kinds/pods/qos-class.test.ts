import type { JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { qosClass } from './qos-class.js';

const both = { cpu: '1', memory: '1Gi' };
const pod = (...resources: JsonObject[]): JsonObject => ({
  spec: { containers: resources.map((one) => ({ resources: one })) },
});

test.each([
  ['nothing', pod({}), 'BestEffort'],
  ['an amount of nothing', pod({ requests: { cpu: '0' } }), 'BestEffort'],
  ['other resources', pod({ limits: { 'example.com/gpu': '1' } }), 'BestEffort'],
  ['the same of both', pod({ limits: both, requests: { ...both, cpu: '1000m' } }), 'Guaranteed'],
  ['less than it may have', pod({ limits: both, requests: { ...both, cpu: '1m' } }), 'Burstable'],
  ['one of both', pod({ limits: { cpu: '1' }, requests: { cpu: '1' } }), 'Burstable'],
  ['something for one container', pod({ limits: both, requests: both }, {}), 'Burstable'],
  [
    'something for all together',
    { spec: { resources: { limits: both, requests: both }, containers: [{}] } },
    'Guaranteed',
  ],
])('a Pod that asks for %s', (_, object, expected) => {
  expect(qosClass(object)).toBe(expected);
});
