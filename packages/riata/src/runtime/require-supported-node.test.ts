import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { requireSupportedNode } from './require-supported-node.js';

test.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0-nightly'])('Node %s will do', (version) => {
  expect(() => requireSupportedNode(version)).not.toThrow();
});

test.each(['20.18.3', '18.20.8', '16.20.2', '0.12.18'])('Node %s is too old', (version) => {
  expect(() => requireSupportedNode(version)).toThrow(`needs Node 20.19 or newer; this is ${version}`);
});

test('what is printed is the message alone', () => {
  try {
    requireSupportedNode('18.20.8');
    expect.unreachable();
  } catch (error) {
    expect((error as Error).stack).toBe(String(error));
  }
});

test('package.json says the same', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(engines).toEqual({ node: '>=20.19' });
});
