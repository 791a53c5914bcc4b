import { Buffer } from 'node:buffer';
import { type DerElement, readElements, readOid } from './der.js';

/** The contents of a certificate signing request (PKCS #10). Its signature isn't checked: API servers do that. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
  /** How many IP addresses it names. */
  readonly ipAddresses: number;
  /** Subject, public key and alternative names as they stand in the request, DER. */
  readonly subject: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly alternativeNames: Uint8Array | undefined;
}

const pem = /-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE REQUEST-----/;
const ids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  extensions: '1.2.840.113549.1.9.14',
  names: '2.5.29.17',
};

/** Reads a request, PEM. Throws a `SyntaxError` if it is malformed. */
export function readCertificateRequest(text: string): CertificateRequest {
  const [, base64] = pem.exec(text) ?? [];
  if (base64 === undefined) throw new SyntaxError('PEM block type must be CERTIFICATE REQUEST');
  const [request] = readElements(Buffer.from(base64, 'base64'));
  const [info] = inside(request);
  const [, subject, publicKey, ...attributes] = inside(info);
  if (subject === undefined || publicKey === undefined) throw new SyntaxError('malformed certificate request');
  const values = (id: string) =>
    inside(subject)
      .flatMap(inside)
      .map(inside)
      .filter(([type]) => type !== undefined && readOid(type) === id)
      .flatMap(([, value]) => (value === undefined ? [] : [value.content.toString('utf8')]));
  const alternativeNames = namesIn(attributes);
  const names = alternativeNames === undefined ? [] : readElements(alternativeNames).flatMap(inside);
  const named = (tag: number) =>
    names.filter((name) => name.tag === tag).map(({ content }) => content.toString('latin1'));
  return {
    ...{ commonName: values(ids.commonName).at(-1) ?? '', organizations: values(ids.organization) },
    ...{ emailAddresses: named(0x81), dnsNames: named(0x82), uris: named(0x86), ipAddresses: named(0x87).length },
    ...{ subject: subject.whole, publicKey: publicKey.whole, alternativeNames },
  };
}

function inside(element: DerElement | undefined): DerElement[] {
  if (element === undefined) throw new SyntaxError('malformed certificate request');
  return readElements(element.content);
}

/** The alternative names among the extensions that a request asks for. */
function namesIn(attributes: readonly DerElement[]): Buffer | undefined {
  for (const attribute of attributes.flatMap(inside)) {
    const [type, set] = inside(attribute);
    if (type === undefined || readOid(type) !== ids.extensions) continue;
    for (const extension of inside(set).flatMap(inside)) {
      const parts = inside(extension);
      if (parts[0] !== undefined && readOid(parts[0]) === ids.names) return parts.at(-1)?.content;
    }
  }
  return undefined;
}
