import { Buffer } from 'node:buffer';
import { control, ignoreNotFound, type ReconcileContext } from 'riata';
import { allOf, intervalSource } from 'riata/controller';
import { CertificateSigningRequest, SubjectAccessReview } from 'riata/kinds';
import {
  type Authority,
  type CertificateRequest,
  createAuthority,
  optionNames,
  readCertificateRequest,
  systemClock,
} from 'riata/runtime';
import { signers } from './signers.js';

type Context = ReconcileContext<CertificateSigningRequest>;

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;
const kubeletClient = 'kubernetes.io/kube-apiserver-client-kubelet';

/** By whom certificates are signed. */
export interface SignerOptions {
  /** @default a new one, made for the first request */
  readonly authority?: Authority;
}

export const signerOptionNames = optionNames<SignerOptions>({ authority: true });

/**
 * Approves the requests of kubelets for client certificates, signs what was approved by the signers of the cluster, and
 * deletes old requests, as the controllers of kube-controller-manager do.
 */
export function certificateSigningRequests({ authority }: SignerOptions = {}) {
  let own = authority;
  const signing = () => {
    own ??= newAuthority();
    return own;
  };
  const approver = control(CertificateSigningRequest, { name: 'csrapproving' }).reconcile(approve);
  const signer = control(CertificateSigningRequest, { name: 'csrsigning' }).reconcile((context) =>
    sign(context, signing),
  );
  const cleaner = control(CertificateSigningRequest, { name: 'csrcleaner' })
    .source(({ reader }) => intervalSource('1h', allOf(reader, CertificateSigningRequest)))
    .reconcile(clean);
  return [approver, signer, cleaner];
}

/** Certificates are verified in real time, whatever the clock of the cluster says. */
function newAuthority(): Authority {
  const nowMs = systemClock.now();
  const validity = { notBefore: new Date(nowMs - hourMs), notAfter: new Date(nowMs + 10 * yearMs) };
  return createAuthority('sandbox', validity);
}

function conditionOf({ status }: CertificateSigningRequest, type: string) {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
}

function read({ spec }: CertificateSigningRequest): CertificateRequest {
  return readCertificateRequest(Buffer.from(spec.request, 'base64').toString('latin1'));
}

/** A kubelet gets its client certificate if the requester may create `nodeclient` or, for itself, `selfnodeclient`. */
async function approve({ object: csr, client }: Context): Promise<void> {
  if (csr.status?.certificate || conditionOf(csr, 'Approved') || conditionOf(csr, 'Denied')) return;
  const { signerName, usages, username: user = '', uid, groups, extra } = csr.spec;
  if (signerName !== kubeletClient) return;
  const request = read(csr);
  if (signers[kubeletClient]?.(request, usages) !== undefined) return;
  const ways = [
    ...(user === request.commonName ? [['selfnodeclient', 'self kubelet client'] as const] : []),
    ['nodeclient', 'kubelet client'] as const,
  ];
  for (const [subresource, what] of ways) {
    const place = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', verb: 'create', subresource };
    const asker = { user, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) };
    const review = await client.create(
      SubjectAccessReview({ metadata: {}, spec: { ...asker, resourceAttributes: place } }),
    );
    if (!review.status?.allowed) continue;
    const message = `Auto approving ${what} certificate after SubjectAccessReview.`;
    await addCondition(client.subresource('approval'), csr, { type: 'Approved', reason: 'AutoApproved', message });
    return;
  }
}

async function sign({ object: csr, client }: Context, authority: () => Authority): Promise<void> {
  const check = signers[csr.spec.signerName];
  if (check === undefined || csr.status?.certificate) return;
  if (!conditionOf(csr, 'Approved') || conditionOf(csr, 'Denied') || conditionOf(csr, 'Failed')) return;
  const request = read(csr);
  const { usages = [], expirationSeconds } = csr.spec;
  const message = check(request, usages);
  if (message !== undefined) {
    await addCondition(client.status, csr, { type: 'Failed', reason: 'SignerValidationFailure', message });
    return;
  }
  const nowMs = systemClock.now();
  const lifeMs = Math.max(600_000, Math.min((expirationSeconds ?? Number.POSITIVE_INFINITY) * 1000, yearMs));
  // Clocks differ. A short-lived certificate keeps all of its time.
  const backMs = 300_000;
  const notAfter = new Date(nowMs + lifeMs - (lifeMs < 8 * hourMs ? 0 : backMs));
  const certificate = authority().sign(request, { usages, notBefore: new Date(nowMs - backMs), notAfter });
  const status = { ...csr.status, certificate: Buffer.from(certificate).toString('base64') };
  await client.status.update({ ...csr, status });
}

function addCondition(
  writer: Pick<Context['client']['status'], 'update'>,
  csr: CertificateSigningRequest,
  condition: { readonly type: string; readonly reason: string; readonly message: string },
): Promise<CertificateSigningRequest> {
  const conditions = [...(csr.status?.conditions ?? []), { ...condition, status: 'True' }];
  return writer.update({ ...csr, status: { ...csr.status, conditions } });
}

/** Requests are deleted an hour after they were decided or failed, or after a day without a decision. */
async function clean({ object: csr, client, clock }: Context): Promise<void> {
  const now = clock.now();
  const decided = ['Approved', 'Denied', 'Failed'].flatMap((type) => conditionOf(csr, type) ?? []);
  const times = decided.map(({ lastUpdateTime }) => Date.parse(lastUpdateTime ?? ''));
  const isOld = times.some((time) => now - time > hourMs);
  const isForgotten = decided.length === 0 && now - Date.parse(csr.metadata.creationTimestamp) > 24 * hourMs;
  if (!isOld && !isForgotten) return;
  await client.delete(CertificateSigningRequest, csr.metadata).catch(ignoreNotFound);
}
