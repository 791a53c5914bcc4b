import { expect, test } from 'vitest';
import { dataHash, templateHash } from './template-hash.js';

test('the order of members does not matter, of elements it does', () => {
  expect(templateHash({ a: 1, b: [1, 2] })).toBe(templateHash({ b: [1, 2], a: 1 }));
  expect(templateHash({ b: [1, 2] })).not.toBe(templateHash({ b: [2, 1] }));
  expect(templateHash({ a: 1 })).toBe(templateHash({ a: 1, b: undefined }));
  expect(templateHash({ a: 1 }, 1)).not.toBe(templateHash({ a: 1 }));
});

test('ControllerRevisions are named as upstream names them', () => {
  // As kube-controller-manager v1.36 did for a StatefulSet of one container.
  const container = {
    name: 'web',
    image: 'web:1',
    imagePullPolicy: 'IfNotPresent',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  };
  const spec = {
    containers: [container],
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 1,
  };
  const template = { $patch: 'replace', metadata: { labels: { app: 'web' } }, spec };
  expect(dataHash({ spec: { template } }, 0)).toBe('c66f486f6');
  expect(dataHash({ spec: { template } }, 1)).not.toBe('c66f486f6');
});

test('JSON is hashed as Go writes it: members in order, and some characters escaped', () => {
  expect(dataHash({ 9: true, a: '<b> & \u2028', 10: 1 }, 0)).toBe('7c78f96d99');
});
