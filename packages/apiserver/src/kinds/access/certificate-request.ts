import { Buffer } from 'node:buffer';
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { DerError, DerReader } from './der-reader.js';

const pem =
  /-----BEGIN CERTIFICATE REQUEST-----[ \t]*\r?\n((?:[^\n]*: [^\n]*\n)*)([^-:]*)-----END CERTIFICATE REQUEST-----/;

const organization = '2.5.4.10';

/** The organizations in the subject of a valid request: the groups that its owner is going to be in. */
export function requestedOrganizations(text: string): readonly string[] {
  const [, , body = ''] = pem.exec(text) ?? [];
  const request = new DerReader(Buffer.from(body.replace(/\s/g, ''), 'base64')).inside(
    'sequence',
    'certificateRequest',
  );
  const parts = request.inside('sequence', 'tbsCertificateRequest');
  parts.inside('integer', 'int');
  const names = parts.inside('sequence', 'pkix.RDNSequence');
  const found: string[] = [];
  while (names.hasMore()) {
    const set = names.inside('set', 'pkix.RelativeDistinguishedNameSET');
    while (set.hasMore()) {
      const attribute = set.inside('sequence', 'pkix.AttributeTypeAndValue');
      if (attribute.identifier() === organization) found.push(attribute.text());
    }
  }
  return found;
}

/** Why a text is no request for a certificate that its asker has signed, in the words of Go; undefined if it is one. */
export function certificateRequestProblem(text: string): string | undefined {
  const [, , body = '?'] = pem.exec(text) ?? [];
  const base64 = body.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 > 0) {
    return 'PEM block type must be CERTIFICATE REQUEST';
  }
  try {
    return signatureProblem(Buffer.from(base64, 'base64'));
  } catch (error) {
    if (error instanceof DerError) return error.message;
    throw error;
  }
}

function signatureProblem(der: Buffer): string | undefined {
  const top = new DerReader(der);
  const request = top.inside('sequence', 'certificateRequest');
  const info = request.whole('sequence', 'tbsCertificateRequest');
  const algorithm = request.inside('sequence', 'pkix.AlgorithmIdentifier').identifier();
  const signature = request.bits();
  top.end();
  const { key, problem } = keyOf(info);
  if (key === undefined) return problem;
  const scheme = schemes[algorithm];
  if (scheme === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  const { digests, kind, pss } = scheme;
  if (digests.includes('sha1')) return 'x509: cannot verify signature: insecure algorithm SHA1-RSA';
  if (key.asymmetricKeyType !== kind) {
    return `x509: signature algorithm specifies an ${names[kind]} public key, but have public key of another type`;
  }
  const padding = pss ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO } : {};
  const isSigned = digests.some((digest) => verify(digest, info, { key, ...padding }, signature));
  return isSigned ? undefined : failures[kind];
}

/** The key that signs, which stands after the version and the name. */
function keyOf(info: Buffer): { readonly key?: KeyObject; readonly problem?: string } {
  const parts = new DerReader(info).inside('sequence', 'tbsCertificateRequest');
  parts.inside('integer', 'int');
  parts.whole('sequence', 'pkix.RDNSequence');
  const key = parts.whole('sequence', 'publicKeyInfo');
  try {
    return { key: createPublicKey({ key, format: 'der', type: 'spki' }) };
  } catch {
    return { problem: 'x509: unsupported elliptic curve' };
  }
}

type KeyKind = 'rsa' | 'ec' | 'ed25519';

const names: Readonly<Record<KeyKind, string>> = { rsa: 'RSA', ec: 'ECDSA', ed25519: 'Ed25519' };
const failures: Readonly<Record<KeyKind, string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
};

/** How requests are signed, by the identifier of the algorithm; of PSS, its parameters say with which digest. */
const schemes: Readonly<
  Record<string, { readonly digests: readonly (string | null)[]; readonly kind: KeyKind; readonly pss?: boolean }>
> = {
  '1.2.840.113549.1.1.5': { digests: ['sha1'], kind: 'rsa' },
  '1.2.840.113549.1.1.10': { digests: ['sha256', 'sha384', 'sha512'], kind: 'rsa', pss: true },
  '1.2.840.113549.1.1.11': { digests: ['sha256'], kind: 'rsa' },
  '1.2.840.113549.1.1.12': { digests: ['sha384'], kind: 'rsa' },
  '1.2.840.113549.1.1.13': { digests: ['sha512'], kind: 'rsa' },
  '1.2.840.10045.4.3.2': { digests: ['sha256'], kind: 'ec' },
  '1.2.840.10045.4.3.3': { digests: ['sha384'], kind: 'ec' },
  '1.2.840.10045.4.3.4': { digests: ['sha512'], kind: 'ec' },
  '1.3.101.112': { digests: [null], kind: 'ed25519' },
};
