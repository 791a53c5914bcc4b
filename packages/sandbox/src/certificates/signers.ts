import type { CertificateSigningRequest } from 'riata/kinds';
import type { CertificateRequest } from 'riata/runtime';

type Usages = CertificateSigningRequest['spec']['usages'];

/** Why a signer refuses a request, in upstream's words; undefined if it signs it. */
type Check = (request: CertificateRequest, usages: Usages) => string | undefined;

const client = ['client auth', 'digital signature', 'key encipherment'];
const serving = ['digital signature', 'key encipherment', 'server auth'];

/** The signers of a cluster, and what each of them signs. */
export const signers: Readonly<Record<string, Check>> = {
  'kubernetes.io/kube-apiserver-client': (_, usages = []) => {
    const other = usages.find((usage) => !client.includes(usage));
    if (other !== undefined) return `invalid usage for client certificate: ${other}`;
    return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
  },
  'kubernetes.io/kube-apiserver-client-kubelet': (request, usages) => {
    if (!isOfNodes(request)) return 'subject organization is not system:nodes';
    if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
    if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
    if (request.ipAddresses > 0) return 'IP subjectAltNames are not allowed';
    if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
    if (!isOfNode(request)) return 'subject common name does not begin with system:node:';
    return usageProblem(usages, client);
  },
  'kubernetes.io/kubelet-serving': (request, usages) => {
    if (!isOfNodes(request)) return 'subject organization is not system:nodes';
    if (request.dnsNames.length + request.ipAddresses === 0) return 'DNS or IP subjectAltName is required';
    if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
    if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
    const problem = usageProblem(usages, serving);
    return problem ?? (isOfNode(request) ? undefined : 'subject common name does not begin with system:node:');
  },
};

function isOfNodes({ organizations }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes';
}

function isOfNode({ commonName }: CertificateRequest): boolean {
  return commonName.startsWith('system:node:');
}

/** All of the usages are required; keys that cannot encipher leave that one out. */
function usageProblem(usages: Usages = [], all: readonly string[]): string | undefined {
  const asked = new Set<string>(usages);
  const matches = (desired: readonly string[]) =>
    desired.length === asked.size && desired.every((one) => asked.has(one));
  const short = all.filter((usage) => usage !== 'key encipherment');
  return matches(all) || matches(short) ? undefined : `usages did not match [${all.join(' ')}]`;
}
