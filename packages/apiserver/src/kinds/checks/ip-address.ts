/** An IP address as it was written, and as it is meant. */
export interface IpAddress {
  /** An IPv4 address in the form of an IPv6 one is of IPv4. */
  readonly family: 'IPv4' | 'IPv6';
  /** Four or sixteen. */
  readonly bytes: readonly number[];
  /** Whether it was written as `::ffff:1.2.3.4`. */
  readonly mapped: boolean;
  /** Whether a part of it was written as `010`, which others read as octal. */
  readonly leadingZeros: boolean;
}

/** A network, or an address with the length of its network. */
export interface Cidr {
  readonly ip: IpAddress;
  /** The length of the prefix, of 32 bits for IPv4 and of 128 else. */
  readonly prefix: number;
  readonly leadingZeros: boolean;
}

/** Reads an address as Kubernetes does: zeros may lead the parts of an IPv4 address, and there are no zones. */
export function parseIp(text: string): IpAddress | undefined {
  if (!text.includes(':')) {
    const bytes = parseV4(text);
    return bytes && { family: 'IPv4', bytes, mapped: false, leadingZeros: hasLeadingZeros(text) };
  }
  const bytes = parseV6(text);
  if (bytes === undefined) return undefined;
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  const leadingZeros = text.includes('.') && hasLeadingZeros(text.slice(text.lastIndexOf(':') + 1));
  return { family: mapped ? 'IPv4' : 'IPv6', bytes: mapped ? bytes.slice(12) : bytes, mapped, leadingZeros };
}

/** Reads a network; the prefix may have leading zeros. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const ip = slash < 0 ? undefined : parseIp(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (ip === undefined || !/^\d{1,9}$/.test(digits)) return undefined;
  const isSix = text.slice(0, slash).includes(':');
  const prefix = Number(digits);
  if (prefix > (isSix ? 128 : 32)) return undefined;
  const leadingZeros = ip.leadingZeros || /^0\d/.test(digits);
  // The mapped form counts the bits of what it is wrapped in.
  return { ip, prefix: ip.mapped ? Math.max(0, prefix - 96) : prefix, leadingZeros };
}

/** In the one form that RFC 5952 leaves. */
export function formatIp({ family, bytes }: Pick<IpAddress, 'family' | 'bytes'>): string {
  if (family === 'IPv4') return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i] as number) * 256 + (bytes[2 * i + 1] as number));
  const zeros = longestZeros(groups);
  const hex = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return zeros === undefined ? hex(0, 8) : `${hex(0, zeros.from)}::${hex(zeros.to, 8)}`;
}

export function formatCidr(cidr: Cidr): string {
  return `${formatIp({ ...cidr.ip, bytes: masked(cidr) })}/${cidr.prefix}`;
}

/** The first address of the network. */
export function masked({ ip, prefix }: Cidr): readonly number[] {
  return ip.bytes.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefix - 8 * index));
    return byte & (0xff << (8 - bits)) & 0xff;
  });
}

/** Whether an address is in a network. */
export function contains(network: Cidr, ip: IpAddress): boolean {
  if (network.ip.family !== ip.family) return false;
  const own = masked(network);
  return masked({ ...network, ip }).every((byte, index) => byte === own[index]);
}

function parseV4(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  // As long as its value is small, a part may have any number of zeros.
  if (parts.length !== 4 || parts.some((part) => !/^\d+$/.test(part) || Number(part) > 255)) return undefined;
  return parts.map(Number);
}

function hasLeadingZeros(v4: string): boolean {
  return v4.split('.').some((part) => /^0\d/.test(part));
}

function parseV6(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, index) => groupsOf(half, index === halves.length - 1));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 16 - head.length - (tail?.length ?? 0);
  if (halves.length === 1) return missing === 0 ? head : undefined;
  return missing < 2 ? undefined : [...head, ...Array<number>(missing).fill(0), ...(tail ?? [])];
}

/** The bytes of groups between colons; the last two may be an IPv4 address. */
function groupsOf(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const bytes: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (isLast && index === parts.length - 1 && part.includes('.')) {
      const v4 = parseV4(part);
      if (v4 === undefined) return undefined;
      bytes.push(...v4);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part))
      bytes.push(Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255);
    else return undefined;
  }
  return bytes;
}

/** The first longest run of at least two groups that are zero. */
function longestZeros(groups: readonly number[]): { from: number; to: number } | undefined {
  let best: { from: number; to: number } | undefined;
  for (let from = 0; from < groups.length; from++) {
    let to = from;
    while (groups[to] === 0) to++;
    if (to - from >= 2 && to - from > (best === undefined ? 0 : best.to - best.from)) best = { from, to };
    if (to > from) from = to;
  }
  return best;
}
