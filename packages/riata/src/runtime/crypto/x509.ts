import { Buffer } from 'node:buffer';
import type { KeyObject } from 'node:crypto';
import type { CertificateRequest } from './certificate-request.js';
import { bitString, element, oid, sequence, time } from './der.js';

/** Loaded by who makes certificates: most programs only import this file. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** A certificate and its key, both PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** From when until when a certificate is good. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** An authority that signs certificates (ECDSA P-256). */
export interface Authority extends Identity {
  /**
   * A certificate for a server under these names and addresses, or, without any, for a client; with a new key, valid as
   * long as the authority by default.
   */
  issue(commonName: string, hosts: readonly string[], validity?: Validity): Identity;
  /**
   * A certificate, PEM, for the holder of the key of a request, with its subject and alternative names. Usages as a
   * CertificateSigningRequest names them (`client auth`, `digital signature`). No longer valid than the authority.
   */
  sign(request: CertificateRequest, options: Validity & { readonly usages: readonly string[] }): string;
}

/** Makes a new authority, with a key of its own. node:crypto reads certificates but makes none, so this writes them. */
export function createAuthority(commonName: string, validity: Validity): Authority {
  const keys = crypto().generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const issuer = { subject: nameOf(commonName), spki: spkiOf(keys.publicKey), key: keys.privateKey };
  const cert = certificate(issuer, issuer, validity, extensions(issuer.spki, issuer.spki, undefined));
  return authority(cert, issuer, validity);
}

/** An authority that {@link createAuthority} has made before. Throws if the key is malformed or does not match the certificate. */
export function loadAuthority({ cert, key }: Identity): Authority {
  const { X509Certificate, createPrivateKey, createPublicKey } = crypto();
  const own = new X509Certificate(cert);
  const privateKey = createPrivateKey(key);
  if (!own.checkPrivateKey(privateKey)) throw new TypeError('loadAuthority: the key does not match the certificate');
  const commonName = /^CN=(.*)$/m.exec(own.subject)?.[1] ?? '';
  const spki = spkiOf(createPublicKey(privateKey));
  const validity = { notBefore: new Date(own.validFrom), notAfter: new Date(own.validTo) };
  return authority(cert, { subject: nameOf(commonName), spki, key: privateKey }, validity);
}

function authority(cert: string, issuer: Subject & { readonly key: KeyObject }, own: Validity): Authority {
  return {
    cert,
    get key() {
      return pemKey(issuer.key);
    },
    issue(name, hosts, validity = own) {
      const { publicKey, privateKey } = crypto().generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
      const subject = { subject: nameOf(name), spki: spkiOf(publicKey) };
      const made = certificate(subject, issuer, validity, extensions(subject.spki, issuer.spki, hosts));
      return { cert: made, key: pemKey(privateKey) };
    },
    sign({ subject, publicKey: spki, alternativeNames }, { usages, notBefore, notAfter }) {
      const last = notAfter < own.notAfter ? notAfter : own.notAfter;
      const extra = signedExtensions(issuer.spki, usages, alternativeNames);
      // A key may be certified more than once.
      return certificate({ subject, spki }, issuer, { notBefore, notAfter: last }, extra, crypto().randomBytes(16));
    },
  };
}

interface Subject {
  readonly subject: Uint8Array;
  readonly spki: Uint8Array;
}

function certificate(
  { subject, spki }: Subject,
  issuer: Subject & { readonly key: KeyObject },
  { notBefore, notAfter }: Validity,
  extra: Buffer,
  // Keys are new each time, so a hash of one is as good a serial number as any.
  serial: Buffer = crypto().createHash('sha256').update(spki).digest().subarray(0, 16),
): string {
  const algorithm = sequence(oid('1.2.840.10045.4.3.2')); // ecdsa-with-SHA256
  // Never negative.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))), // version 3
    element(0x02, serial),
    algorithm,
    issuer.subject,
    sequence(time(notBefore), time(notAfter)),
    subject,
    spki,
    element(0xa3, extra),
  );
  const signature = crypto().sign('sha256', body, issuer.key);
  const lines =
    sequence(body, algorithm, bitString(signature))
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const yes = element(0x01, Buffer.from([0xff]));
const extension = (id: string, value: Uint8Array, critical = false): Buffer =>
  sequence(oid(id), ...(critical ? [yes] : []), element(0x04, value));

/** Those of an authority, or, with hosts, of a server; of a client if there are none. */
function extensions(spki: Uint8Array, issuerSpki: Uint8Array, hosts: readonly string[] | undefined): Buffer {
  const isAuthority = hosts === undefined;
  const usage = isAuthority ? bitString(Buffer.from([0b1000_0110]), 1) : bitString(Buffer.from([0b1000_0000]), 7);
  return sequence(
    extension('2.5.29.19', isAuthority ? sequence(yes) : sequence(), true), // basicConstraints
    extension('2.5.29.15', usage, true), // keyUsage
    extension('2.5.29.14', element(0x04, keyId(spki))),
    extension('2.5.29.35', sequence(element(0x80, keyId(issuerSpki)))),
    ...(isAuthority
      ? []
      : [
          extension('2.5.29.37', sequence(oid(hosts.length > 0 ? '1.3.6.1.5.5.7.3.1' : '1.3.6.1.5.5.7.3.2'))), // extKeyUsage
          ...(hosts.length > 0 ? [extension('2.5.29.17', sequence(...hosts.map(alternativeName)))] : []),
        ]),
  );
}

/** Bits of keyUsage, by the names that Kubernetes has for them. */
const keyUsages: Readonly<Record<string, number>> = {
  ...{ signing: 0, 'digital signature': 0, 'content commitment': 1, 'key encipherment': 2, 'data encipherment': 3 },
  ...{ 'key agreement': 4, 'cert sign': 5, 'crl sign': 6, 'encipher only': 7, 'decipher only': 8 },
};
const purpose = '1.3.6.1.5.5.7.3';
const extendedUsages: Readonly<Record<string, string>> = {
  ...{
    any: '2.5.29.37.0',
    'server auth': `${purpose}.1`,
    'client auth': `${purpose}.2`,
    'code signing': `${purpose}.3`,
  },
  ...{ 'email protection': `${purpose}.4`, 's/mime': `${purpose}.4`, 'ipsec end system': `${purpose}.5` },
  ...{ 'ipsec tunnel': `${purpose}.6`, 'ipsec user': `${purpose}.7`, timestamping: `${purpose}.8` },
  ...{ 'ocsp signing': `${purpose}.9`, 'microsoft sgc': '1.3.6.1.4.1.311.10.3.3' },
  'netscape sgc': '2.16.840.1.113730.4.1',
};

/** Those of a certificate that was requested. */
function signedExtensions(
  issuerSpki: Uint8Array,
  usages: readonly string[],
  alternativeNames: Uint8Array | undefined,
): Buffer {
  const bits = [...new Set(usages.flatMap((usage) => keyUsages[usage] ?? []))];
  const purposes = [...new Set(usages.flatMap((usage) => extendedUsages[usage] ?? []))];
  const last = Math.max(...bits);
  const bytes = Buffer.alloc(bits.length === 0 ? 0 : Math.floor(last / 8) + 1);
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return sequence(
    ...(bits.length > 0 ? [extension('2.5.29.15', bitString(bytes, 7 - (last & 7)), true)] : []),
    ...(purposes.length > 0 ? [extension('2.5.29.37', sequence(...purposes.map(oid)))] : []),
    extension('2.5.29.19', sequence(), true),
    extension('2.5.29.35', sequence(element(0x80, keyId(issuerSpki)))),
    ...(alternativeNames ? [extension('2.5.29.17', alternativeNames)] : []),
  );
}

function alternativeName(host: string): Buffer {
  // Loaded by who listens: within the process there are no addresses.
  const { isIPv4, isIPv6 } = process.getBuiltinModule('node:net');
  if (isIPv4(host)) return element(0x87, Buffer.from(host.split('.').map(Number)));
  if (!isIPv6(host)) return element(0x82, Buffer.from(host, 'ascii'));
  // URL writes every spelling as groups of hex with at most one "::".
  const [head = '', tail = ''] = new URL(`http://[${host}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail)];
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return element(0x87, Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff])));
}

const nameOf = (commonName: string): Buffer =>
  sequence(element(0x31, sequence(oid('2.5.4.3'), element(0x0c, Buffer.from(commonName)))));
const keyId = (spki: Uint8Array): Buffer => crypto().createHash('sha256').update(spki).digest().subarray(0, 20);
const spkiOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const pemKey = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
