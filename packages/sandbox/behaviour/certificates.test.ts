import { X509Certificate } from 'node:crypto';
import { CertificateSigningRequest } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { nodeRequest, servingRequest, userRequest } from './certificate-requests.js';
import { describeClusters, eventually } from './cluster.js';

type Usages = NonNullable<CertificateSigningRequest['spec']['usages']>;

const clientUsages: Usages = ['digital signature', 'key encipherment', 'client auth'];

describeClusters(
  (cluster) => {
    describe.concurrent('certificates', () => {
      const create = async (signer: string, request: string, usages: Usages, expirationSeconds?: number) => {
        const { metadata } = await cluster().client.create(
          CertificateSigningRequest({
            metadata: { generateName: 'csr-' },
            spec: {
              ...{ signerName: `kubernetes.io/${signer}`, request: Buffer.from(request).toString('base64'), usages },
              ...(expirationSeconds && { expirationSeconds }),
            },
          }),
        );
        return { name: metadata.name };
      };
      const approve = async (key: { name: string }) => {
        const { client } = cluster();
        const csr = await client.get(CertificateSigningRequest, key);
        const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'by a test' };
        await client.subresource('approval').update({ ...csr, status: { conditions: [condition] } });
      };
      const signed = async (key: { name: string }) => {
        let found: X509Certificate | undefined;
        await eventually(async () => {
          const { status } = await cluster().client.get(CertificateSigningRequest, key);
          expect(status?.certificate).toBeDefined();
          found = new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'));
        });
        return found as X509Certificate;
      };
      const hours = ({ validFrom, validTo }: X509Certificate) =>
        (Date.parse(validTo) - Date.parse(validFrom)) / 3_600_000;

      test('a kubelet gets its client certificate without being asked', async () => {
        const { client } = cluster();
        const key = await create('kube-apiserver-client-kubelet', nodeRequest, clientUsages);
        const certificate = await signed(key);
        expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:worker');
        expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
        expect([certificate.ca, certificate.subjectAltName]).toEqual([false, undefined]);
        const { status } = await client.get(CertificateSigningRequest, key);
        expect(status?.conditions).toMatchObject([
          {
            ...{ type: 'Approved', status: 'True', reason: 'AutoApproved' },
            message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
          },
        ]);
      });

      test('others are signed once approved, for as long as requested', async () => {
        const { client } = cluster();
        const usages: Usages = ['digital signature', 'server auth'];
        const serving = await create('kubelet-serving', servingRequest, usages, 12 * 3600);
        const user = await create('kube-apiserver-client', userRequest, ['client auth'], 600);
        const other = await create('unknown', userRequest, ['client auth']);
        // The kubelet's client certificate shows that requests have been looked at since.
        await signed(await create('kube-apiserver-client-kubelet', nodeRequest, clientUsages));
        expect((await client.get(CertificateSigningRequest, serving)).status).toEqual({});
        for (const key of [serving, user, other]) await approve(key);
        const certificate = await signed(serving);
        expect(certificate.subjectAltName).toBe('DNS:worker.example.com, IP Address:10.1.2.3');
        expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
        expect(hours(certificate)).toBeCloseTo(12, 2);
        const own = await signed(user);
        // Go writes several organizations as one part of the name.
        expect(own.subject.split(/\n| \+ /).sort()).toEqual(['CN=jane', 'O=devs', 'O=ops']);
        expect(hours(own)).toBeCloseTo((600 + 300) / 3600, 2);
        expect((await client.get(CertificateSigningRequest, other)).status?.certificate).toBeUndefined();
      });

      test('what a signer does not sign fails, and says why', async () => {
        const { client } = cluster();
        const cases = [
          [
            'kubelet-serving',
            nodeRequest,
            ['digital signature', 'server auth'],
            'DNS or IP subjectAltName is required',
          ],
          ['kubelet-serving', userRequest, ['server auth'], 'subject organization is not system:nodes'],
          ['kube-apiserver-client-kubelet', servingRequest, clientUsages, 'DNS subjectAltNames are not allowed'],
          [
            ...(['kube-apiserver-client-kubelet', nodeRequest, ['client auth']] as const),
            'usages did not match [client auth digital signature key encipherment]',
          ],
          ['kube-apiserver-client', userRequest, ['server auth'], 'invalid usage for client certificate: server auth'],
        ] as const;
        for (const [signer, request, usages, message] of cases) {
          const key = await create(signer, request, usages as Usages);
          await approve(key);
          await eventually(async () => {
            const { status } = await client.get(CertificateSigningRequest, key);
            const failed = status?.conditions?.find(({ type }) => type === 'Failed');
            expect(failed).toMatchObject({ status: 'True', reason: 'SignerValidationFailure', message });
          });
        }
      });
    });
  },
  { controllers: ['csrapproving', 'csrsigning', 'csrcleaner'] },
);
