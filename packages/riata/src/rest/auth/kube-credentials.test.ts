import { expect, test } from 'vitest';
import { silentLogger } from '../../runtime/log/logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { AuthorizationSource, ClientCertificate } from './authorization-source.js';
import { KubeCredentials } from './kube-credentials.js';
import { TlsFiles } from './tls-files.js';

const x509: {
  issueCertificate(options: { commonName: string }): ClientCertificate;
} = await import(new URL('../../../../../tools/control-plane/x509.mjs', import.meta.url).href);

test('what is wrong is found out without asking a plugin again: by the certificate that it gave last', async () => {
  const clock = new VirtualClock();
  const certificate = x509.issueCertificate({ commonName: 'jane' });
  let asked = 0;
  const source: AuthorizationSource = {
    authorization: async () => undefined,
    clientCertificate: async () => {
      asked += 1;
      return certificate;
    },
    refresh: async () => false,
    describe: () => 'exec',
  };
  const credentials = new KubeCredentials(await TlsFiles.load({ clock, log: silentLogger }), source);
  expect(await credentials.problem()).toBeUndefined();
  expect(asked).toBe(0);
  expect(await credentials.tls()).toMatchObject(certificate);
  await clock.advance(100 * 365 * 24 * 3_600_000);
  expect(await credentials.problem()).toMatch(/^the client certificate expired on /);
  expect(asked).toBe(1);
});
