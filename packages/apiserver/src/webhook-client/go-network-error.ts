/** Why a request could not be sent, as Go's client words it: operators search for these texts. */
export function goNetworkError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): string {
  const { code = '', message = String(error) } = (error ?? {}) as { readonly code?: string; readonly message?: string };
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  if (code === 'ECONNREFUSED') return `dial tcp ${address}: connect: connection refused`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  if (code === 'ENETUNREACH' || code === 'EHOSTUNREACH') return `dial tcp ${address}: connect: no route to host`;
  if (code === 'ETIMEDOUT') return `dial tcp ${address}: i/o timeout`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'EOF';
  if (unknownAuthority.has(code)) return `${unverified} certificate signed by unknown authority`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `${unverified} ${otherName(message)}`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return `${unverified} certificate has expired or is not yet valid`;
  }
  if (message.includes('wrong version number') || message.includes('packet length too long')) {
    return 'http: server gave HTTP response to HTTPS client';
  }
  return message;
}

const unverified = 'tls: failed to verify certificate: x509:';
const unknownAuthority: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/** From `… Host: a. is not in the cert's altnames: DNS:b, IP Address:1.2.3.4`. Names are compared with names alone. */
function otherName(message: string): string {
  const [, host, ip] = /(?:Host: (\S+)\. is not|IP: (\S+) is not)/.exec(message) ?? [];
  const kind = host === undefined ? 'IP Address' : 'DNS';
  const names = [...message.matchAll(new RegExp(`${kind}:([^,\\s]+)`, 'g'))].map(([, name]) => name);
  return `certificate is valid for ${names.join(', ')}, not ${host ?? ip ?? ''}`;
}
