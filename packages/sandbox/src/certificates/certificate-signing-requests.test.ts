import { X509Certificate } from 'node:crypto';
import { TestEnvironment } from '@riata/testing';
import { CertificateSigningRequest } from 'riata/kinds';
import { expect, test } from 'vitest';
import { userRequest } from '../../behaviour/certificate-requests.js';
import { clusterControllers } from '../controllers.js';

const csr = (name: string) =>
  CertificateSigningRequest({
    metadata: { name },
    spec: {
      ...{ signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
      request: Buffer.from(userRequest).toString('base64'),
    },
  });

test('certificates are signed by the authority; requests go an hour after they were decided, or after a day', async () => {
  await using env = await TestEnvironment.start();
  const authority = env.server?.authority;
  await env.run(...clusterControllers({ ...(authority && { authority }) }));
  const { client } = env;
  await client.create(csr('open'));
  const made = await client.create(csr('approved'));
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: '' }];
  await client.subresource('approval').update({ ...made, status: { conditions } });
  await env.settle();
  const { status } = await client.get(CertificateSigningRequest, { name: 'approved' });
  const certificate = new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'));
  expect(certificate.verify(new X509Certificate(authority?.cert ?? '').publicKey)).toBe(true);
  await env.expectConverged();
  const names = async () => (await client.list(CertificateSigningRequest)).items.map(({ metadata }) => metadata.name);
  await env.advance('50m');
  expect(await names()).toEqual(['approved', 'open']);
  await env.advance('2h');
  expect(await names()).toEqual(['open']);
  await env.advance('20h');
  expect(await names()).toEqual(['open']);
  await env.advance('4h');
  expect(await names()).toEqual([]);
});
