import type { ConnectedClient, RestConfig } from 'riata';
import { createClient } from 'riata';
import { scriptedTransport } from 'riata/rest';
import { createAuthority, silentLogger, systemClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import type { Operator } from '../../config/resolve-operator.js';
import { certificateFindings } from './certificate-findings.js';
import { checkConnection } from './check-connection.js';
import { checkCrds } from './check-crds.js';
import { checkDeployment } from './check-deployment.js';
import { checkIdentity } from './check-identity.js';
import { checkWebhooks } from './check-webhooks.js';
import type { Check, CheckedCluster, Finding } from './finding.js';
import { runChecks } from './run-checks.js';

// States of a cluster that a server of our own does not get into.
const nowMs = Date.parse('2026-11-17T12:00:00Z');

function cluster(more: Partial<CheckedCluster>): CheckedCluster {
  return {
    client: undefined as never,
    config: { server: 'https://cluster.example.com', transport: scriptedTransport(() => ({ body: {} })) },
    operator: undefined,
    clock: { now: () => nowMs, after: (ms, call) => systemClock.after(ms, call) },
    signal: new AbortController().signal,
    ...more,
  };
}

const texts = (findings: readonly Finding[]) => findings.map(({ level, text }) => `${level}: ${text}`);
const found = async (check: Check, more: Partial<CheckedCluster>) => texts(await check(cluster(more)));

/** A client that knows these objects, by kind. */
function holding(objects: Readonly<Record<string, readonly object[]>>): ConnectedClient {
  const of = ({ kind }: { kind: string }) => (objects[kind] ?? []) as readonly { metadata: { name: string } }[];
  return {
    list: async (kind: { kind: string }) => ({ items: of(kind) }),
    find: async (kind: { kind: string }, { name }: { name: string }) =>
      of(kind).find(({ metadata }) => metadata.name === name),
  } as unknown as ConnectedClient;
}

test('certificates: the newest one counts', () => {
  const at = (days: number) => new Date(nowMs + days * 86_400_000);
  const levels = (...days: number[]) =>
    certificateFindings('the certificate', days.map(at), nowMs).map(({ level }) => level);
  expect([levels(-1), levels(13), levels(15), levels(-1, 400)]).toEqual([['problem'], ['warning'], [], []]);
});

describe('the connection', () => {
  const version = { major: '1', minor: '36', gitVersion: 'v1.36.0' };
  test('not encrypted', async () => {
    const config: RestConfig = { server: 'http://cluster.example.com' };
    const client = { discovery: { serverVersion: async () => version } } as unknown as ConnectedClient;
    expect(await found(checkConnection, { config, client })).toContain('warning: the connection is not encrypted');
  });

  test('behind a proxy the certificate is not looked at', async () => {
    const config = { server: 'https://cluster.example.com', proxyUrl: 'http://127.0.0.1:1' } as RestConfig;
    const client = { discovery: { serverVersion: async () => version } } as unknown as ConnectedClient;
    expect(await found(checkConnection, { config, client })).toHaveLength(1);
  });
});

test.each([
  [{ body: { status: {} } }, 'warning: the server does not say who you are'],
  [
    { status: 404, body: { kind: 'Status', reason: 'NotFound', code: 404 } },
    'warning: the server does not say who you are',
  ],
])('an identity that is not known: %j', async (answer, finding) => {
  const transport = scriptedTransport(() => answer);
  await using client = createClient({ server: 'http://x', transport }, { runtime: { log: silentLogger } });
  expect(await found(checkIdentity, { client })).toEqual([finding]);
});

describe('definitions', () => {
  const crd = (conditions: readonly object[], more: object = {}) =>
    holding({
      CustomResourceDefinition: [
        { metadata: { name: 'sites.example.com', ...more }, spec: {}, status: { conditions } },
      ],
    });

  test.each([
    [
      crd([{ type: 'Established', status: 'False', message: 'installing' }]),
      'problem: sites.example.com is not served: installing',
    ],
    [
      crd([{ type: 'NamesAccepted', status: 'False', message: '"sites" is in use' }]),
      'problem: sites.example.com: its names are taken: "sites" is in use',
    ],
    [
      crd([{ type: 'NonStructuralSchema', status: 'True', message: 'spec.validation: Required' }]),
      'warning: sites.example.com: spec.validation: Required',
    ],
    [crd([], { deletionTimestamp: '2026-11-17T11:00:00Z' }), 'problem: sites.example.com is being deleted'],
    [crd([{ type: 'Established', status: 'True' }]), 'ok: 1 CustomResourceDefinitions are served'],
  ])('%#', async (client, finding) => expect(await found(checkCrds, { client })).toEqual([finding]));

  test('versions with different schemas and no conversion lose fields', async () => {
    const versions = ['v1', 'v2'].map((name, index) => ({
      ...{ name, served: true, storage: index === 1 },
      schema: { openAPIV3Schema: { type: 'object', properties: { [name]: { type: 'string' } } } },
    }));
    const manifest = { metadata: { name: 'sites.example.com' }, spec: { versions } };
    const kind = { crd: () => manifest, group: 'example.com', plural: 'sites', kind: 'Site' };
    const operator = { kinds: [kind] } as unknown as Operator;
    const current = { ...manifest, status: { storedVersions: ['v0'] } };
    const client = holding({ CustomResourceDefinition: [current] });
    expect(await found(checkCrds, { client, operator })).toEqual([
      'problem: sites.example.com: objects are stored as v0, which the code no longer defines',
      'problem: sites.example.com serves v1, v2 with different schemas and no conversion webhook: fields are lost',
    ]);
  });
});

test('the deployed operator: another image, some replicas, all', async () => {
  const operator = { namespace: 'shop', name: 'sites', image: 'r.example.com/sites', version: '1.0.0' } as Operator;
  const deployed = (image: string, readyReplicas: number) => {
    const spec = { replicas: 2, selector: {}, template: { spec: { containers: [{ image }] } } };
    return found(checkDeployment, {
      operator,
      client: holding({ Deployment: [{ metadata: { name: 'sites' }, spec, status: { readyReplicas } }] }),
    });
  };
  expect(await deployed('nginx', 2)).toEqual(['warning: Deployment shop/sites runs nginx, not r.example.com/sites']);
  expect(await deployed('r.example.com/sites:1.0.0', 1)).toEqual([
    'warning: Deployment shop/sites has 1 of 2 replicas ready',
  ]);
  expect(await deployed('r.example.com/sites@sha256:00', 2)).toEqual([
    'ok: Deployment shop/sites runs r.example.com/sites@sha256:00, 2 of 2 replicas ready',
  ]);
});

describe('webhooks', () => {
  const valid = { notBefore: new Date(0), notAfter: new Date(nowMs + 400 * 86_400_000) };
  const caBundle = Buffer.from(createAuthority('test', valid).cert).toString('base64');
  const service = { namespace: 'shop', name: 'hooks' };
  const ready = {
    Service: [{ metadata: { name: 'hooks' } }],
    EndpointSlice: [{ endpoints: [{ conditions: { ready: true } }] }],
  };
  const called = (clientConfig: object) =>
    found(checkWebhooks, {
      client: holding({
        ...ready,
        MutatingWebhookConfiguration: [
          {
            kind: 'MutatingWebhookConfiguration',
            metadata: { name: 'm' },
            webhooks: [{ name: 'a.b.c', clientConfig }],
          },
        ],
      }),
    });
  const name = 'webhook a.b.c of MutatingWebhookConfiguration m';

  test.each([
    [{ service }, `warning: ${name} has no caBundle: the server cannot trust it`],
    [
      { service, caBundle: Buffer.from('x').toString('base64') },
      `problem: ${name}: its caBundle holds no valid certificate`,
    ],
    [{ caBundle }, `problem: ${name}: neither a Service nor a URL is given: requests fail`],
    [{ service, caBundle }, 'ok: all 1 webhooks have a ready backend and a valid certificate'],
  ])('%#', async (clientConfig, finding) => expect(await called(clientConfig)).toEqual([finding]));

  test('of a conversion', async () => {
    const conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig: { service: { ...service, name: 'gone' }, caBundle } },
    };
    const client = holding({
      ...ready,
      CustomResourceDefinition: [{ metadata: { name: 'sites.example.com' }, spec: { conversion } }],
    });
    expect(await found(checkWebhooks, { client })).toEqual([
      'problem: conversion of sites.example.com: Service shop/gone not found: requests fail',
    ]);
  });
});

test('a check that breaks is a problem, and the others are made', async () => {
  const version = { major: '1', minor: '36', gitVersion: 'v1.36.0' };
  const client = {
    ...holding({}),
    discovery: { serverVersion: async () => version },
    create: async () => {
      throw new Error('connection reset');
    },
  } as unknown as ConnectedClient;
  const results: string[] = [];
  for await (const { check, findings } of runChecks(cluster({ client }))) {
    results.push(...texts(findings).map((text) => `${check}: ${text}`));
  }
  expect(results).toContainEqual(expect.stringMatching(/^identity: problem: the check failed: .*connection reset/));
  expect(results).toContain('webhooks: ok: the API server calls no webhooks');
});
