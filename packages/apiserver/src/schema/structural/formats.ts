import { isDns1123Label, isDns1123Subdomain, parseGoDuration } from 'riata/object';

/** Whether a text is of the format. Keys are without dashes, as names of formats are compared. */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  uri: isRequestUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => text.includes('.') && (isIPv4(text.replace(/\b0+(?=\d)/g, '')) || isIPv6(text)),
  ipv6: (text) => text.includes(':') && isIPv6(text) && !text.includes('%'),
  cidr: isCidr,
  mac: isMac,
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid3: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid4: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  uuid5: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => /^\d{3}[- ]\d{2}[- ]\d{4}$/.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: (text) => rgb.test(text),
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: isDns1123Label,
  k8slongname: isDns1123Subdomain,
};

/**
 * The format of a schema if the server takes notice of it: others are for people to read. `type` is the schema's only
 * type, or undefined.
 */
export function knownFormat(format: string | undefined, type: string | undefined): string | undefined {
  if (format === undefined || format === '') return undefined;
  if (type === 'integer') return format === 'int32' || format === 'int64' ? format : undefined;
  if (type === 'number') return format === 'float' || format === 'double' ? format : undefined;
  if (type !== undefined && type !== 'string') return undefined;
  return Object.hasOwn(checks, format.replaceAll('-', '')) ? format : undefined;
}

/** Whether the text is of that format; true for formats of numbers. */
export function hasFormat(text: string, format: string): boolean {
  return checks[format.replaceAll('-', '')]?.(text) ?? true;
}

const channel = String.raw`\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*`;
const rgb = new RegExp(String.raw`^rgb\(${channel},${channel},${channel}\)$`);
const host =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255 || !host.test(text)) return false;
  return text.split('.').every((part) => Buffer.byteLength(part) <= 63);
}

/** The URIs that Go's `url.ParseRequestURI` accepts: an absolute URI or an absolute path. */
function isRequestUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (text === '' || /[\x00-\x20\x7f]/.test(text.replace(/ /g, ''))) return false;
  if (/%(?![0-9a-fA-F]{2})/.test(text.replace(/\?.*$/, ''))) return false;
  if (text === '*' || text.startsWith('/')) return true;
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:(.*)$/s.exec(text);
  if (scheme === null) return false;
  const authority = /^\/\/([^/?#]*)/.exec(scheme[1] as string)?.[1];
  if (authority === undefined) return true;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return !/[ <>"]/.test(authority) && /^(\[[^\]]*\]|[^:]*)(:\d*)?$/.test(host);
}

// Loaded by who checks an address: a server starts without it.
const isIPv4 = (text: string): boolean => process.getBuiltinModule('node:net').isIPv4(text);
const isIPv6 = (text: string): boolean => process.getBuiltinModule('node:net').isIPv6(text);

/** Roughly what Go's `mail.ParseAddress` takes: an address, perhaps with a name before it in pointed brackets. */
function isEmail(text: string): boolean {
  const address = /^(?:[^<>@]*<([^<>]+)>|([^<>]+))$/.exec(text.trimEnd());
  const inner = (address?.[1] ?? address?.[2] ?? '').trim();
  return /^(?:[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+)*|"(?:[^"\\]|\\.)*")@(?:[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+)*|\[[^\]]*\])$/.test(
    inner,
  );
}

function isCidr(text: string): boolean {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (match === null) return false;
  const address = (match[1] as string).replace(/^[\d.]+$/, (dotted) => dotted.replace(/\b0+(?=\d)/g, ''));
  const bits = Number(match[2]);
  return isIPv4(address) ? bits <= 32 : isIPv6(address) && !address.includes('%') && bits <= 128;
}

/** 6, 8 or 20 bytes, in pairs of digits or fours. */
const macs = [5, 7, 19].flatMap((more) => [
  `[0-9a-f]{2}(?::[0-9a-f]{2}){${more}}`,
  `[0-9a-f]{2}(?:-[0-9a-f]{2}){${more}}`,
  `[0-9a-f]{4}(?:\\.[0-9a-f]{4}){${(more - 1) / 2}}`,
]);
const macRegex = new RegExp(`^(?:${macs.join('|')})$`, 'i');

function isMac(text: string): boolean {
  return macRegex.test(text);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i]);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

const cards =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!cards.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= (month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31);
}

function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t') as [string, string?];
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(time ?? '');
  if (match === null || !isDate(date)) return false;
  return (match[1] as string) <= '23' && (match[2] as string) <= '59' && (match[3] as string) <= '59';
}

/** A duration of Go, or words such as `3 days`. */
function isDuration(text: string): boolean {
  try {
    parseGoDuration(text);
    return true;
  } catch {
    const exact = ['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'];
    const starts = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];
    return [...text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)].some(([, , word]) => {
      const unit = (word as string).toLowerCase();
      return exact.includes(unit) || starts.some((start) => unit.startsWith(start));
    });
  }
}
