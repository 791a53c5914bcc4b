import { Buffer } from 'node:buffer';
import { createClient } from 'riata';
import { CertificateSigningRequest } from 'riata/kinds';
import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

test('who approves a certificate request writes its conditions, and nothing else', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock });
  await using client = createClient(server.config, { runtime: { clock } });
  const pem = '-----BEGIN CERTIFICATE REQUEST-----\neA==\n-----END CERTIFICATE REQUEST-----\n';
  const spec = { request: Buffer.from(pem).toString('base64'), signerName: 'example.com/s', usages: ['client auth'] };
  const made = await client.create(CertificateSigningRequest({ metadata: { name: 'a' }, spec }));
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Me' }];
  const body = {
    ...made,
    spec: { ...made.spec, signerName: 'example.com/other' },
    status: { certificate: 'eA==', conditions },
  };
  await client.subresource('approval').replace(CertificateSigningRequest, made.metadata, body);
  const approved = await client.get(CertificateSigningRequest, { name: 'a' });
  expect(approved.spec.signerName).toBe('example.com/s');
  expect(approved.status?.certificate).toBeUndefined();
  expect(approved.status?.conditions).toMatchObject(conditions);
});
