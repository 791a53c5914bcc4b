/**
 * The rules for names, with the words that Kubernetes uses. `riata/object` has the same rules in words for people who
 * write programs; a server has to answer what clients already know.
 */

/** The problems of a name; a `prefix` is the start of a generated one and may end with a dash. */
export type NameRule = (name: string, prefix?: boolean) => readonly string[];

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelRegex = anchored(label);
const subdomainRegex = anchored(subdomain);
const label1035Regex = anchored(label1035);
const qualifiedRegex = anchored(qualified);

/** The rule of most kinds. */
export const dnsSubdomainName: NameRule = (name, prefix) => dnsSubdomain(prefix ? maskDash(name) : name);
/** The rule of namespaces. */
export const dnsLabelName: NameRule = (name, prefix) => dnsLabel(prefix ? maskDash(name) : name);
/** The rule of services until Kubernetes relaxes it. */
export const dns1035LabelName: NameRule = (name, prefix) => dns1035Label(prefix ? maskDash(name) : name);

/** The rule of RBAC kinds and of embedded objects: whatever can stand in a path. */
export const pathSegmentName: NameRule = (name, prefix) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

export function dnsLabel(text: string): string[] {
  const problems = tooLong(text, 63);
  if (labelRegex.test(text)) return problems;
  if (subdomainRegex.test(text)) return [...problems, 'must not contain dots'];
  const words =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [...problems, mismatch(words, label, 'my-name', '123-abc')];
}

export function dnsSubdomain(text: string): string[] {
  const problems = tooLong(text, 253);
  if (subdomainRegex.test(text)) return problems;
  const words =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [...problems, mismatch(words, subdomain, 'example.com')];
}

export function dns1035Label(text: string): string[] {
  const problems = tooLong(text, 63);
  if (label1035Regex.test(text)) return problems;
  const words =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return [...problems, mismatch(words, label1035, 'my-name', 'abc-123')];
}

// Put together once, as an object may have a hundred thousand such names.
const qualifiedMismatch = mismatch(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  qualified,
  ...['MyName', 'my.name', '123-abc'],
);
const namePartMismatch = `name part ${qualifiedMismatch}`;
const labelValueMismatch = mismatch(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  `(${qualified})?`,
  ...['MyValue', 'my_value', '12345'],
);

/** The rule of keys of labels and annotations, and of finalizers. */
export function qualifiedName(text: string): string[] {
  const parts = text.split('/');
  const name = parts.at(-1) as string;
  if (parts.length > 2) {
    return [
      `a valid label key ${qualifiedMismatch} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const problems: string[] = [];
  if (parts.length === 2) {
    if (parts[0] === '') problems.push('prefix part must be non-empty');
    else problems.push(...dnsSubdomain(parts[0] as string).map((problem) => `prefix part ${problem}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  else problems.push(...tooLong(name, 63, 'bytes').map((problem) => `name part ${problem}`));
  if (!qualifiedRegex.test(name)) problems.push(namePartMismatch);
  return problems;
}

export function labelValue(text: string): string[] {
  const problems = tooLong(text, 63, 'bytes');
  if (text === '' || qualifiedRegex.test(text)) return problems;
  return [...problems, labelValueMismatch];
}

/** How long a text is for Go: in bytes. */
export function byteLength(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) length += 1;
    else if (code < 0x800) length += 2;
    else if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
      length += 4;
      i++;
    } else length += 3;
  }
  return length;
}

/** Kubernetes counts bytes either way; its newer rules say so. */
function tooLong(text: string, max: number, unit = 'characters'): string[] {
  return byteLength(text) > max ? [`must be no more than ${max} ${unit}`] : [];
}

function mismatch(words: string, regex: string, ...examples: string[]): string {
  return `${words} (e.g. ${examples.map((e) => `'${e}', `).join(' or ')}regex used for validation is '${regex}')`;
}

/** The last character but one goes too: that is how Kubernetes does it. */
function maskDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

function anchored(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`);
}
