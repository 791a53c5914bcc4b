import { byteLength } from '../../schema/name-rules.js';

/** The problems of a text, in upstream's words; none if it is valid. */
export type TextRule = (text: string) => readonly string[];

/** The name of a port (`validation.IsValidPortName`). */
export function portName(text: string): string[] {
  const problems: string[] = [];
  if (byteLength(text) > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(text)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** `validation.IsValidPercent` */
export const percent = byPattern(
  "a valid percent string must be a numeric string followed by an ending '%'",
  '[0-9]+%',
  '1%',
  '93%',
);

/** `validation.IsHTTPHeaderName` */
export const headerName = byPattern(
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  '[-A-Za-z0-9]+',
  'X-Header-Name',
);

/** `validation.IsCIdentifier` */
export const cIdentifier = byPattern(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  '[A-Za-z_][A-Za-z0-9_]*',
  'my_name',
  'MY_NAME',
  'MyName',
);

const wildcard = byPattern(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*',
  '*.example.com',
);

/** `validation.IsWildcardDNS1123Subdomain` */
export function wildcardSubdomain(text: string): readonly string[] {
  return [...atMost(253, text), ...wildcard(text)];
}

/** The name of an environment variable (`validation.IsRelaxedEnvVarName`). */
export function envVarName(text: string): string[] {
  if (text === '') return ['environment variable name must be non-empty'];
  if (/^[ -<>-~]*$/.test(text)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

const configKeyPattern = byPattern(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  'key.name',
  'KEY_NAME',
  'key-name',
);

/** A key of a ConfigMap or a Secret (`validation.IsConfigMapKey`). */
export function configMapKey(text: string): string[] {
  return [...atMost(253, text), ...configKeyPattern(text), ...noParent(text)];
}

function noParent(text: string): string[] {
  if (text === '.') return ["must not be '.'"];
  if (text === '..') return ["must not be '..'"];
  return text.startsWith('..') ? ["must not start with '..'"] : [];
}

function atMost(max: number, text: string): string[] {
  return byteLength(text) > max ? [`must be no more than ${max} characters`] : [];
}

/** A rule that is one regular expression, reported with examples (`validation.RegexError`). */
export function byPattern(words: string, pattern: string, ...examples: string[]): TextRule {
  const regex = new RegExp(`^(?:${pattern})$`);
  const shown = examples.map((e) => `'${e}', `).join(' or ');
  const problem = `${words} (e.g. ${shown}regex used for validation is '${pattern}')`;
  return (text) => (regex.test(text) ? [] : [problem]);
}
