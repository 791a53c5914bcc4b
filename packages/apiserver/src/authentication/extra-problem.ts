import { dnsSubdomain } from '../schema/name-rules.js';
import { goQuote } from '../status/go-quote.js';

const pathFormat = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const path = new RegExp(`^${pathFormat}$`);

/** Why extra values of a user must not be impersonated, in upstream's words; undefined if they may. */
export function extraProblem(extra: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const problem = keyProblem(key);
    if (problem !== undefined) return `impersonating an invalid key in extra is not allowed: ${problem}`;
    if (key !== key.toLowerCase()) {
      return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`;
    }
    if (values.length === 0) return 'impersonating empty values in extra is not allowed';
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

function keyProblem(key: string): string | undefined {
  const slash = key.indexOf('/');
  const [host, rest] = [key.slice(0, Math.max(slash, 0)), key.slice(slash + 1)];
  const invalid = (value: string, why: string) => `extra.key: Invalid value: ${goQuote(value)}: ${why}`;
  if (host === '' || rest === '') return invalid(key, 'must be a domain-prefixed path (such as "acme.io/foo")');
  const problems = dnsSubdomain(host).map((why) => invalid(host, why));
  if (!path.test(rest)) problems.push(invalid(rest, `Invalid path (regex used for validation is '${pathFormat}')`));
  return problems.length > 1 ? `[${problems.join(', ')}]` : problems[0];
}
