import { type FieldError, invalid } from '../../status/field-error.js';
import { goQuote } from '../../status/go-quote.js';
import { contains, formatCidr, formatIp, type IpAddress, masked, parseCidr, parseIp } from './ip-address.js';

/**
 * An address in a field that has always accepted several forms; values that the object had before (`known`) stay
 * allowed (`IsValidIPForLegacyField`).
 */
export function checkIp(value: string, path: string, known: readonly string[] = []): FieldError[] {
  if (known.includes(value)) return [];
  const ip = parseIp(value);
  if (ip === undefined) return [invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  const errors: FieldError[] = [];
  if (ip.leadingZeros) errors.push(invalid(path, value, 'must not have leading 0s'));
  else if (ip.mapped) errors.push(invalid(path, value, 'must not be an IPv4-mapped IPv6 address'));
  return errors;
}

/** The problems of a name that must be an address in its canonical form. */
export function canonicalIpProblems(value: string): string[] {
  return checkCanonicalIp(value, '').map(({ body }) => body.slice(`Invalid value: ${goQuote(value)}: `.length));
}

/** An address in the one form that there is for it (`IsValidIP`). */
export function checkCanonicalIp(value: string, path: string): FieldError[] {
  const errors = checkIp(value, path);
  const ip = parseIp(value);
  if (errors.length > 0 || ip === undefined || formatIp(ip) === value) return errors;
  return [invalid(path, value, `must be in canonical form (${goQuote(formatIp(ip))})`)];
}

/** A network, in the forms that such fields have always taken (`IsValidCIDRForLegacyField`). */
export function checkCidr(value: string, path: string, known: readonly string[] = []): FieldError[] {
  if (known.includes(value)) return [];
  const cidr = parseCidr(value);
  if (cidr === undefined) {
    return [invalid(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
  }
  if (cidr.leadingZeros) return [invalid(path, value, 'must not have leading 0s in IP or prefix length')];
  if (cidr.ip.mapped) return [invalid(path, value, 'must not have an IPv4-mapped IPv6 address')];
  const isNetwork = masked(cidr).every((byte, index) => byte === cidr.ip.bytes[index]);
  return isNetwork ? [] : [invalid(path, value, 'must not have bits set beyond the prefix length')];
}

/** A network in the one form that there is for it (`IsValidCIDR`). */
export function checkCanonicalCidr(value: string, path: string): FieldError[] {
  const errors = checkCidr(value, path);
  const cidr = parseCidr(value);
  if (errors.length > 0 || cidr === undefined || formatCidr(cidr) === value) return errors;
  return [invalid(path, value, `must be in canonical form (${goQuote(formatCidr(cidr))})`)];
}

const ranges = ['127.0.0.0/8', '::1/128', '169.254.0.0/16', 'fe80::/10', '224.0.0.0/24', 'ff02::/16'] as const;

/** An address that others may be sent to (`ValidateEndpointIP`). */
export function checkEndpointIp(value: string, path: string): FieldError[] {
  const ip = parseIp(value);
  if (ip === undefined) return [invalid(path, value, 'must be a valid IP address')];
  const errors: FieldError[] = [];
  const [loopback, loopback6, linkLocal, linkLocal6, multicast, multicast6] = ranges.map((r) => isIn(r, ip));
  if (ip.bytes.every((byte) => byte === 0)) errors.push(invalid(path, value, `may not be unspecified (${value})`));
  if (loopback || loopback6) {
    errors.push(invalid(path, value, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'));
  }
  if (linkLocal || linkLocal6) {
    errors.push(invalid(path, value, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'));
  }
  if (multicast || multicast6) {
    errors.push(invalid(path, value, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'));
  }
  return errors;
}

/** Warnings about an address that is accepted but should be written differently (`GetWarningsForIP`). */
export function ipWarnings(value: string, path: string): readonly string[] {
  const ip = parseIp(value);
  if (ip === undefined) return [];
  const better = goQuote(formatIp(ip));
  if (ip.leadingZeros || ip.mapped) {
    return [`${path}: non-standard IP address ${goQuote(value)} is invalid: use ${better}`];
  }
  if (ip.family === 'IPv4' || formatIp(ip) === value) return [];
  return [`${path}: IPv6 address ${goQuote(value)} should be in RFC 5952 canonical format (${better})`];
}

/** Warnings about a network that is accepted but should be written differently (`GetWarningsForCIDR`). */
export function cidrWarnings(value: string, path: string): readonly string[] {
  const cidr = parseCidr(value);
  if (cidr === undefined) return [];
  const [written, better] = [goQuote(value), goQuote(formatCidr(cidr))];
  const warnings: string[] = [];
  if (masked(cidr).some((byte, index) => byte !== cidr.ip.bytes[index])) {
    const single = goQuote(`${formatIp(cidr.ip)}/${8 * cidr.ip.bytes.length}`);
    warnings.push(`${path}: CIDR value ${written} is ambiguous in this context (should be ${better} or ${single}?)`);
  }
  if (cidr.leadingZeros || cidr.ip.mapped) {
    warnings.push(`${path}: non-standard CIDR value ${written} is invalid: use ${better}`);
  }
  if (warnings.length === 0 && cidr.ip.family === 'IPv6' && better !== written) {
    warnings.push(`${path}: IPv6 CIDR value ${written} should be in RFC 5952 canonical format (${better})`);
  }
  return warnings;
}

function isIn(range: string, ip: IpAddress): boolean {
  const network = parseCidr(range);
  return network !== undefined && contains(network, ip);
}
