import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { controlPlaneFromEnv, variable } from './client.mjs';
import { writeConfiguration } from './configuration.mjs';
import { openControlEndpoint } from './control-endpoint.mjs';

let dir: string;
let calls: unknown[];
let endpoint: Awaited<ReturnType<typeof openControlEndpoint>>;
let path: string;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'riata-client-test-'));
  calls = [];
  const record = (name: string) => async (options?: unknown) => void calls.push([name, options]);
  endpoint = await openControlEndpoint({
    restartApiServer: record('restart'),
    stopApiServer: record('stop'),
    startApiServer: record('start'),
    startControllerManager: async () => {
      throw new Error('there is none');
    },
    stopControllerManager: record('stop manager'),
    compact: async () => 0,
    clientCertificate: () => ({ cert: '', key: '' }),
  });
  path = join(dir, 'control-plane.json');
  const configuration = writeConfiguration(dir, { apiServerPort: 6443 });
  writeFileSync(path, JSON.stringify({ ...configuration, control: { url: endpoint.url, secret: endpoint.secret } }));
});
afterEach(() => {
  endpoint.close();
  rmSync(dir, { recursive: true, force: true });
});

test('the facts arrive, the secret of the endpoint does not', () => {
  const controlPlane = controlPlaneFromEnv({ [variable]: path });
  expect(controlPlane.url).toBe('https://127.0.0.1:6443');
  expect(controlPlane.kubeconfig).toContain('server: https://127.0.0.1:6443\n');
  expect(controlPlane).not.toHaveProperty('control');
});

test('actions are carried out where the control plane was started', async () => {
  const controlPlane = controlPlaneFromEnv({ [variable]: path });
  await controlPlane.restartApiServer({ graceful: false });
  await controlPlane.stopApiServer();
  await controlPlane.startApiServer();
  await controlPlane.stopControllerManager();
  expect(calls).toEqual([
    ['restart', { graceful: false }],
    ['stop', {}],
    ['start', undefined],
    ['stop manager', undefined],
  ]);
  await expect(controlPlane.startControllerManager()).rejects.toThrow(
    'control plane: start-controller-manager failed: there is none',
  );
});

test('client certificates carry user, groups and validity', () => {
  const controlPlane = controlPlaneFromEnv({ [variable]: path });
  const notAfter = new Date('2031-02-03T04:05:06Z');
  const certificate = new X509Certificate(controlPlane.clientCertificate('jane', ['a', 'b'], { notAfter }).cert);
  expect(certificate.subject).toBe('O=a\nO=b\nCN=jane');
  expect(new Date(certificate.validTo)).toEqual(notAfter);
});

test('without the secret nothing happens', async () => {
  for (const authorization of ['', 'Bearer ', `Bearer ${'0'.repeat(48)}`]) {
    const answer = await fetch(`${endpoint.url}/restart-apiserver`, { method: 'POST', headers: { authorization } });
    expect(answer.status).toBe(401);
  }
  const headers = { authorization: `Bearer ${endpoint.secret}` };
  expect((await fetch(`${endpoint.url}/restart-apiserver`, { headers })).status).toBe(404); // a GET
  expect(calls).toEqual([]);
});

test('outside of a run, the error says how to get one', () => {
  expect(() => controlPlaneFromEnv({})).toThrow(/RIATA_CONTROL_PLANE is not set.*npm run test:real/);
});
