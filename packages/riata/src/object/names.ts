const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const dns1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const maxLabel = 63;
const maxSubdomain = 253;

// Lengths are counted in UTF-8 bytes by the server. What is not ASCII is refused by its characters anyway, so counting
// UTF-16 units gives the same verdict.
function tooLong(value: string, max: number): string[] {
  return value.length > max ? [`must have at most ${max} characters, has ${value.length}`] : [];
}

/**
 * What is wrong with `value` as a DNS label of RFC 1123 (`validation.IsDNS1123Label`): the rule for namespaces and
 * for names that become part of a host name. Empty when nothing is.
 */
export function dns1123LabelProblems(value: string): string[] {
  const problems = tooLong(value, maxLabel);
  if (dnsLabel.test(value)) return problems;
  problems.push(
    dnsSubdomain.test(value)
      ? 'must have no dots'
      : 'must be lower case letters, digits and "-", and start and end with a letter or digit, as in "my-name"',
  );
  return problems;
}

/**
 * What is wrong with `value` as a DNS subdomain of RFC 1123 (`validation.IsDNS1123Subdomain`): the rule for most
 * object names and for API groups. Empty when nothing is.
 */
export function dns1123SubdomainProblems(value: string): string[] {
  const problems = tooLong(value, maxSubdomain);
  if (!dnsSubdomain.test(value)) {
    problems.push(
      'must be lower case letters, digits, "-" and ".", each part starting and ending with a letter or digit, as in "example.com"',
    );
  }
  return problems;
}

/**
 * What is wrong with `value` as a DNS label of RFC 1035 (`validation.IsDNS1035Label`), which starts with a letter: the
 * rule for Services and for the plural names of resources. Empty when nothing is.
 */
export function dns1035LabelProblems(value: string): string[] {
  const problems = tooLong(value, maxLabel);
  if (!dns1035.test(value)) {
    problems.push(
      'must be lower case letters, digits and "-", start with a letter and end with a letter or digit, as in "my-name"',
    );
  }
  return problems;
}

/**
 * What is wrong with `value` as a qualified name (`validation.IsQualifiedName`, `content.IsLabelKey`): `name` or
 * `dns.prefix/name`. The rule for keys of labels and annotations, and for finalizers. Empty when nothing is.
 */
export function qualifiedNameProblems(value: string): string[] {
  const parts = value.split('/');
  if (parts.length > 2) return ['must be a name with at most one prefix, as in "example.com/my-name"'];
  const name = parts.at(-1) as string;
  const problems: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === '') problems.push('prefix must not be empty');
    else problems.push(...dns1123SubdomainProblems(prefix).map((problem) => `prefix ${problem}`));
  }
  if (name === '') problems.push('name must not be empty');
  else {
    problems.push(...tooLong(name, maxLabel).map((problem) => `name ${problem}`));
    if (!qualifiedPart.test(name)) {
      problems.push('name must be letters, digits, "-", "_" and ".", and start and end with a letter or digit');
    }
  }
  return problems;
}

/**
 * What is wrong with `value` as a label's value (`validation.IsValidLabelValue`): empty, or like the name part of a
 * qualified name. Empty when nothing is.
 */
export function labelValueProblems(value: string): string[] {
  const problems = tooLong(value, maxLabel);
  if (value !== '' && !qualifiedPart.test(value)) {
    problems.push('must be empty, or letters, digits, "-", "_" and ".", starting and ending with a letter or digit');
  }
  return problems;
}

/** True for a DNS label of RFC 1123 (`validation.IsDNS1123Label`). */
export function isDns1123Label(value: string): boolean {
  return value.length <= maxLabel && dnsLabel.test(value);
}

/** True for a DNS subdomain of RFC 1123 (`validation.IsDNS1123Subdomain`). */
export function isDns1123Subdomain(value: string): boolean {
  return value.length <= maxSubdomain && dnsSubdomain.test(value);
}

/** True for a DNS label of RFC 1035 (`validation.IsDNS1035Label`). */
export function isDns1035Label(value: string): boolean {
  return value.length <= maxLabel && dns1035.test(value);
}

/** True for a qualified name (`validation.IsQualifiedName`), e.g. the key of a label. */
export function isQualifiedName(value: string): boolean {
  return qualifiedNameProblems(value).length === 0;
}

/** True for a valid value of a label (`validation.IsValidLabelValue`). */
export function isLabelValue(value: string): boolean {
  return value.length <= maxLabel && (value === '' || qualifiedPart.test(value));
}
