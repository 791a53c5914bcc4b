// @ts-check
// Issues X.509 certificates (ECDSA P-256) with nothing but node:crypto, which can read certificates but not make them.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import * as der from './der.mjs';

/**
 * A certificate and its private key, both PEM.
 * @typedef {object} Identity
 * @property {string} cert
 * @property {string} key PKCS#8
 */

/**
 * @typedef {object} CertificateOptions
 * @property {string} commonName The subject's CN: the user name, when the API server reads it as a client certificate.
 * @property {string[]} [organizations] The subject's O values: the groups of a client certificate. Default none.
 * @property {string[]} [dnsNames] Names a server certificate is valid for. Default none.
 * @property {string[]} [ipAddresses] Addresses (v4 or v6) a server certificate is valid for. Default none.
 * @property {Date} [notBefore] Default a minute ago, so that clocks may differ a little.
 * @property {Date} [notAfter] Default a day after now.
 * @property {boolean} [isCA] Whether the certificate may sign others. Default false.
 * @property {('server' | 'client')[]} [usages] What a certificate that is no CA is for. Default both.
 * @property {Identity} [issuer] The CA that signs. Default: signed with its own key.
 */

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
};

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Makes a new key and a certificate for it. Expired, not yet valid and wrongly named ones are welcome: tests need them.
 * @param {CertificateOptions} options
 * @returns {Identity}
 */
export function issueCertificate(options) {
  const { issuer } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const subject = distinguishedName(options);
  const issuerSpki = issuer ? createPublicKey(issuer.cert).export({ type: 'spki', format: 'der' }) : spki;
  const algorithm = der.sequence(der.oid(OID.ecdsaWithSha256));
  const toBeSigned = der.sequence(
    der.context(0, der.integer(Buffer.from([2]))), // version 3
    der.integer(randomBytes(16)),
    algorithm,
    issuer ? subjectOf(issuer.cert) : subject,
    der.sequence(
      der.time(options.notBefore ?? new Date(Date.now() - 60_000)),
      der.time(options.notAfter ?? new Date(Date.now() + dayMs)),
    ),
    subject,
    spki,
    der.context(3, der.sequence(...extensions(options, spki, issuerSpki))),
  );
  const signature = sign('sha256', toBeSigned, issuer ? createPrivateKey(issuer.key) : privateKey);
  const cert = der.sequence(toBeSigned, algorithm, der.bitString(signature));
  return {
    cert: pem('CERTIFICATE', cert),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/**
 * A certificate authority: signs what names it as `issuer`.
 * @param {string} commonName
 * @param {Pick<CertificateOptions, 'notBefore' | 'notAfter' | 'issuer'>} [options]
 */
export function createAuthority(commonName, options = {}) {
  return issueCertificate({ ...options, commonName, isCA: true });
}

/** @param {CertificateOptions} options */
function distinguishedName({ commonName, organizations = [] }) {
  /** @param {string} type @param {string} value */
  const attribute = (type, value) => der.set(der.sequence(der.oid(type), der.utf8String(value)));
  return der.sequence(
    ...organizations.map((name) => attribute(OID.organization, name)),
    attribute(OID.commonName, commonName),
  );
}

/**
 * @param {CertificateOptions} options
 * @param {Buffer} spki
 * @param {Buffer} issuerSpki
 */
function extensions(
  { isCA = false, dnsNames = [], ipAddresses = [], usages = ['server', 'client'] },
  spki,
  issuerSpki,
) {
  const names = [
    ...dnsNames.map((name) => der.context(2, Buffer.from(name, 'ascii'), { primitive: true })),
    ...ipAddresses.map((address) => der.context(7, addressBytes(address), { primitive: true })),
  ];
  const keyIdentifier = der.context(0, keyId(issuerSpki), { primitive: true });
  // Bits from the left: 0 digitalSignature, 5 keyCertSign, 6 cRLSign.
  const keyUsage = isCA ? der.bitString(Buffer.from([0b1000_0110]), 1) : der.bitString(Buffer.from([0b1000_0000]), 7);
  return [
    extension(OID.basicConstraints, isCA ? der.sequence(der.boolean(true)) : der.sequence(), { critical: true }),
    extension(OID.keyUsage, keyUsage, { critical: true }),
    ...(isCA ? [] : [extension(OID.extendedKeyUsage, der.sequence(...usages.map((usage) => der.oid(OID[usage]))))]),
    extension(OID.subjectKeyIdentifier, der.octetString(keyId(spki))),
    extension(OID.authorityKeyIdentifier, der.sequence(keyIdentifier)),
    ...(names.length > 0 ? [extension(OID.subjectAltName, der.sequence(...names))] : []),
  ];
}

/** @param {string} id @param {Buffer} value @param {{ critical?: boolean }} [options] */
function extension(id, value, { critical = false } = {}) {
  return der.sequence(der.oid(id), ...(critical ? [der.boolean(true)] : []), der.octetString(value));
}

/** @param {Buffer} spki */
const keyId = (spki) => createHash('sha256').update(spki).digest().subarray(0, 20);

/**
 * The issuer's subject, byte for byte: a chain holds only when the two names are equal as DER.
 * @param {string} cert
 */
function subjectOf(cert) {
  const [toBeSigned] = der.children(new X509Certificate(cert).raw);
  const subject = toBeSigned && der.children(toBeSigned)[5]; // version, serial, algorithm, issuer, validity, subject
  if (!subject) throw new Error('the issuer is not a version 3 certificate');
  return subject;
}

/** @param {string} address */
function addressBytes(address) {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (!isIPv6(address))
    throw new TypeError(`a certificate's ipAddresses wants IPv4 or IPv6 addresses, got "${address}"`);
  // URL rewrites every spelling (a dotted tail, capitals, zeros) to groups of hex and at most one "::".
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Array(8 - before.length - after.length).fill(0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

/** @param {string} text */
const groups = (text) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));

/** @param {string} label @param {Buffer} bytes */
function pem(label, bytes) {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
