import {
  type Cidr,
  contains,
  formatIp,
  type IpAddress,
  masked,
  parseCidr,
  parseIp,
} from '../../kinds/checks/ip-address.js';
import { goQuote } from '../../status/go-quote.js';
import { CelError } from '../language/cel-error.js';
import { boolType, intType, opaque, stringType } from '../language/cel-type.js';
import { type Functions, member, plain } from '../language/overload.js';
import type { OpaqueValue } from '../language/value.js';

class IpValue implements OpaqueValue {
  readonly isOpaque = true;
  readonly typeName = 'net.IP';

  readonly address: IpAddress;

  constructor(address: IpAddress) {
    this.address = address;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof IpValue && formatIp(this.address) === formatIp(other.address);
  }
}

class CidrValue implements OpaqueValue {
  readonly isOpaque = true;
  readonly typeName = 'net.CIDR';

  readonly network: Cidr;

  constructor(network: Cidr) {
    this.network = network;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof CidrValue && textOf(this.network) === textOf(other.network);
  }
}

const ip = opaque('net.IP');
const cidr = opaque('net.CIDR');

/** IP addresses and networks. Zones, leading zeros and IPv4 addresses in the form of IPv6 ones are not taken. */
export const networks: Functions = {
  ip: [
    plain('string_to_ip', [stringType], ip, (text: string) => new IpValue(address(text))),
    member('cidr_ip', [cidr], ip, (of: CidrValue) => new IpValue(of.network.ip)),
  ],
  family: [member('ip_family', [ip], intType, (of: IpValue) => (of.address.family === 'IPv4' ? 4n : 6n))],
  'ip.isCanonical': [
    plain('ip_is_canonical', [stringType], boolType, (text: string) => formatIp(address(text)) === text),
  ],
  isUnspecified: [
    member('ip_is_unspecified', [ip], boolType, (of: IpValue) => of.address.bytes.every((byte) => byte === 0)),
  ],
  isLoopback: [member('ip_is_loopback', [ip], boolType, (of: IpValue) => within(of, ['127.0.0.0/8', '::1/128']))],
  isLinkLocalMulticast: [
    member('ip_is_link_local_multicast', [ip], boolType, (of: IpValue) => isLinkLocalMulticast(of)),
  ],
  isLinkLocalUnicast: [
    member('ip_is_link_local_unicast', [ip], boolType, (of: IpValue) => within(of, ['169.254.0.0/16', 'fe80::/10'])),
  ],
  isGlobalUnicast: [
    member('ip_is_global_unicast', [ip], boolType, (of: IpValue) => {
      const none = ['0.0.0.0/32', '255.255.255.255/32', '127.0.0.0/8', '224.0.0.0/4', '169.254.0.0/16'];
      return !within(of, [...none, '::/128', '::1/128', 'ff00::/8', 'fe80::/10']);
    }),
  ],
  isIP: [plain('is_ip', [stringType], boolType, (text: string) => strictIp(text) !== undefined)],
  cidr: [plain('string_to_cidr', [stringType], cidr, (text: string) => new CidrValue(network(text)))],
  isCIDR: [plain('is_cidr', [stringType], boolType, (text: string) => strictCidr(text) !== undefined)],
  containsIP: [
    member('cidr_contains_ip_string', [cidr, stringType], boolType, (of: CidrValue, text: string) =>
      contains(of.network, address(text)),
    ),
    member('cidr_contains_ip_ip', [cidr, ip], boolType, (of: CidrValue, other: IpValue) =>
      contains(of.network, other.address),
    ),
  ],
  containsCIDR: [
    member('cidr_contains_cidr_string', [cidr, stringType], boolType, (of: CidrValue, text: string) =>
      holds(of.network, network(text)),
    ),
    member('cidr_contains_cidr', [cidr, cidr], boolType, (of: CidrValue, other: CidrValue) =>
      holds(of.network, other.network),
    ),
  ],
  prefixLength: [member('cidr_prefix_length', [cidr], intType, (of: CidrValue) => BigInt(of.network.prefix))],
  masked: [
    member(
      'cidr_masked',
      [cidr],
      cidr,
      ({ network: own }: CidrValue) => new CidrValue({ ...own, ip: { ...own.ip, bytes: masked(own) } }),
    ),
  ],
  string: [
    plain('ip_to_string', [ip], stringType, (of: IpValue) => formatIp(of.address)),
    plain('cidr_to_string', [cidr], stringType, (of: CidrValue) => textOf(of.network)),
  ],
};

function textOf(of: Cidr): string {
  return `${formatIp(of.ip)}/${of.prefix}`;
}

function strictIp(text: string): IpAddress | undefined {
  const found = parseIp(text);
  return found === undefined || found.mapped || found.leadingZeros ? undefined : found;
}

function strictCidr(text: string): Cidr | undefined {
  const found = parseCidr(text);
  return found === undefined || found.ip.mapped || found.leadingZeros ? undefined : found;
}

function address(text: string): IpAddress {
  const found = strictIp(text);
  if (found !== undefined) return found;
  const quoted = goQuote(text);
  if (parseIp(text)?.mapped) throw new CelError(`IPv4-mapped IPv6 address ${quoted} is not allowed`);
  const why = `ParseAddr(${quoted}): unable to parse IP`;
  throw new CelError(`IP Address ${quoted} parse error during conversion from string: ${why}`);
}

function network(text: string): Cidr {
  const found = strictCidr(text);
  if (found !== undefined) return found;
  const quoted = goQuote(text);
  const slash = text.lastIndexOf('/');
  const bits = text.slice(slash + 1);
  const why =
    slash < 0
      ? "no '/'"
      : strictIp(text.slice(0, slash)) === undefined
        ? 'unable to parse IP'
        : /^(0|[1-9][0-9]*)$/.test(bits)
          ? 'prefix length out of range'
          : `bad bits after slash: ${goQuote(bits)}`;
  const problem = 'network address parse error during conversion from string: ';
  throw new CelError(`${problem}${problem}netip.ParsePrefix(${quoted}): ${why}`);
}

function within({ address: own }: IpValue, ranges: readonly string[]): boolean {
  return ranges.some((range) => contains(parseCidr(range) as Cidr, own));
}

function isLinkLocalMulticast({ address: { family, bytes } }: IpValue): boolean {
  if (family === 'IPv4') return bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0;
  return bytes[0] === 0xff && ((bytes[1] as number) & 0x0f) === 2;
}

function holds(of: Cidr, other: Cidr): boolean {
  return other.prefix >= of.prefix && contains(of, { ...other.ip, bytes: masked(other) });
}
