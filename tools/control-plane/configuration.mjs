// @ts-check
// Writes everything the servers read: keys and certificates, tokens, the audit policy, the kubeconfig.

import { createPublicKey, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueCertificate } from './x509.mjs';

/** @typedef {ReturnType<typeof writeConfiguration>} Configuration */

/** The user of the plain token: authenticated, and allowed nothing beyond what RBAC gives to all users. */
export const plainUser = 'plain';

/**
 * @param {string} dir
 * @param {{ apiServerPort: number }} options
 */
export function writeConfiguration(dir, { apiServerPort }) {
  const pki = join(dir, 'pki');
  mkdirSync(pki, { recursive: true });
  /** @param {string} path @param {string} text */
  const write = (path, text) => {
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const serverAuthority = createAuthority('riata test server authority');
  const clientAuthority = createAuthority('riata test client authority');
  const serving = issueCertificate({
    commonName: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    ipAddresses: ['127.0.0.1', '10.0.0.1'],
    usages: ['server'],
    issuer: serverAuthority,
  });
  const serviceAccountKey = issueCertificate({ commonName: 'its key alone is used' }).key;
  const serviceAccountPublicKey = createPublicKey(serviceAccountKey).export({ type: 'spki', format: 'pem' }).toString();
  const token = randomBytes(24).toString('hex');
  const plainToken = randomBytes(24).toString('hex');
  const url = `https://127.0.0.1:${apiServerPort}`;
  const kubeconfig = kubeconfigText({ url, ca: serverAuthority.cert, token, plainToken });
  return {
    url,
    token,
    plainToken,
    kubeconfig,
    ca: serverAuthority.cert,
    kubeconfigPath: write(join(dir, 'kubeconfig'), kubeconfig),
    caFile: write(join(pki, 'ca.crt'), serverAuthority.cert),
    caKeyFile: write(join(pki, 'ca.key'), serverAuthority.key),
    servingCertFile: write(join(pki, 'server.crt'), serving.cert),
    servingKeyFile: write(join(pki, 'server.key'), serving.key),
    clientCaFile: write(join(pki, 'client-ca.crt'), clientAuthority.cert),
    clientCaKeyFile: write(join(pki, 'client-ca.key'), clientAuthority.key),
    serviceAccountKeyFile: write(join(pki, 'service-account.key'), serviceAccountKey),
    serviceAccountPublicKeyFile: write(join(pki, 'service-account.pub'), serviceAccountPublicKey),
    tokenFile: write(
      join(dir, 'tokens.csv'),
      `${token},admin,admin,"system:masters"\n${plainToken},${plainUser},${plainUser}\n`,
    ),
    auditPolicyFile: write(join(dir, 'audit-policy.yaml'), auditPolicy),
    auditLogPath: write(join(dir, 'audit.log'), ''),
  };
}

/**
 * One line per request, once it is answered (a watch: also when it starts). Leases with their contents: who had which term
 * is judged by them. Tests of the audit log have namespaces of their own.
 */
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - level: RequestResponse
    verbs: [create, update, patch]
    resources: [{ group: coordination.k8s.io, resources: [leases] }]
  - level: RequestResponse
    namespaces: [audited-whole]
  - level: Request
    namespaces: [audited-request]
    omitManagedFields: false
  - level: None
    namespaces: [audited-none]
  - level: Metadata
`;

/** @param {{ url: string, ca: string, token: string, plainToken: string }} options */
function kubeconfigText({ url, ca, token, plainToken }) {
  return `apiVersion: v1
kind: Config
clusters:
  - name: test
    cluster:
      server: ${url}
      certificate-authority-data: ${Buffer.from(ca).toString('base64')}
users:
  - name: admin
    user:
      token: ${token}
  - name: ${plainUser}
    user:
      token: ${plainToken}
contexts:
  - name: admin
    context:
      cluster: test
      user: admin
  - name: ${plainUser}
    context:
      cluster: test
      user: ${plainUser}
current-context: admin
`;
}
