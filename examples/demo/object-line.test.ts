import type { KubeObject } from 'riata';
import { expect, test } from 'vitest';
import { objectLine } from './object-line.js';

test('a Pod is shown as ready only when it is', () => {
  const metadata = { namespace: 'default', name: 'web', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
  const pod = (phase: string, isReady = false) => {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    return objectLine({ apiVersion: 'v1', kind: 'Pod', metadata, status: { phase, conditions } } as KubeObject);
  };
  const shown = ({ mark, state }: ReturnType<typeof pod>) => `${mark} ${state}`;
  expect([pod('Pending'), pod('Running'), pod('Running', true), pod('Succeeded'), pod('Failed')].map(shown)).toEqual([
    ...['◌ unavailable', '◌ unavailable', '● ready', '◌ succeeded', '✗ failed'],
  ]);
  const fresh = { apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Pending' } } as KubeObject;
  expect(objectLine(fresh).state).toBe('pending');
});
