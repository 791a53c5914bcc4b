import type { TLSSocket } from 'node:tls';
import { credentialIdKey, type UserInfo } from './user-info.js';

/** What the certificate of a client says: who it is, or why it is refused. */
export type ClientCertificate = { readonly user: UserInfo } | { readonly problem: string };

/** The attribute of a subject that holds the uid of a user. */
const uidAttribute = '1.3.6.1.4.1.57683.2';

type Subject = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads what a client has shown in the TLS handshake; undefined without a certificate, or if it names no user. */
export function clientCertificateOf(socket: TLSSocket): ClientCertificate | undefined {
  const shown = socket.getPeerCertificate(false);
  // Node returns an empty object when there is no certificate.
  if (shown === null || typeof shown !== 'object' || Object.keys(shown).length === 0) return undefined;
  if (!socket.authorized) return { problem: String(socket.authorizationError) };
  const subject = shown.subject as unknown as Subject;
  const username = valuesOf(subject, 'CN').at(-1) ?? '';
  if (username === '') return undefined;
  const uids = valuesOf(subject, uidAttribute);
  if (uids.length > 1) return { problem: 'the subject has several uids' };
  const id = `X509SHA256=${shown.fingerprint256.replaceAll(':', '').toLowerCase()}`;
  const uid = uids[0] === undefined ? {} : { uid: uids[0] };
  return { user: { username, ...uid, groups: valuesOf(subject, 'O'), extra: { [credentialIdKey]: [id] } } };
}

function valuesOf(subject: Subject, attribute: string): readonly string[] {
  const value = Object.hasOwn(subject, attribute) ? subject[attribute] : undefined;
  return value === undefined ? [] : typeof value === 'string' ? [value] : value;
}
