import { Buffer } from 'node:buffer';
import { createClient } from 'riata';
import { CertificateSigningRequest } from 'riata/kinds';
import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

/** Asks for a certificate for `e`. */
const signed =
  'MIGLMD8CAQAwDDEKMAgGA1UEAwwBZTAqMAUGAytlcAMhAD93sPrUsl4jux/GtVnZTj5z4nD7tI47RKBFNHJ0NrSMoAAwBQYDK2Vw' +
  'A0EA5vkkZ9wf7kq4F8mo1H/0rXNCV6/frWlujBu2P7X7u1KyAoPgwuPcyB+bx7CpofBBsNTYfea0MWC3vkd2mdnMCQ==';

test('who approves a certificate request writes its conditions, and nothing else', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock });
  await using client = createClient(server.config, { runtime: { clock } });
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${signed}\n-----END CERTIFICATE REQUEST-----\n`;
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
