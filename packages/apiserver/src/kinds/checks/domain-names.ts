import { dnsLabel, dnsSubdomain } from '../../schema/name-rules.js';
import { type FieldError, invalid, required } from '../../status/field-error.js';
import { checkText } from './basic-checks.js';

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const pathRegex = new RegExp(`^${pathPattern}$`);

/** E.g. `acme.io/foo` (`IsDomainPrefixedPath`). */
export function checkDomainPath(text: string, path: string): FieldError[] {
  if (text === '') return [required(path)];
  const slash = text.indexOf('/');
  const [host, rest] = [text.slice(0, Math.max(0, slash)), text.slice(slash + 1)];
  if (slash < 1 || rest === '') {
    return [invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const errors = checkText(dnsSubdomain, host, path);
  if (!pathRegex.test(rest)) {
    errors.push(invalid(path, rest, `Invalid path (regex used for validation is '${pathPattern}')`));
  }
  return errors;
}

/** A name of two parts at least, which may end with a dot (`IsFullyQualifiedDomainName`). */
export function checkDomainName(text: string, path: string): FieldError[] {
  const errors = checkSegments(text, text.endsWith('.') ? text.slice(0, -1) : text, 'two', path);
  if (errors.length > 0) return errors;
  const labels = text.split('.').filter((label) => label !== '');
  return labels.flatMap((label) => join(dnsLabel(label), label, path)).slice(0, 1);
}

/** A name of three parts at least (`IsFullyQualifiedName`). */
export function checkQualifiedDomain(text: string, path: string): FieldError[] {
  return checkSegments(text, text, 'three', path);
}

function checkSegments(given: string, name: string, least: 'two' | 'three', path: string): FieldError[] {
  if (given === '') return [required(path)];
  const problems = dnsSubdomain(name);
  if (problems.length > 0) return join(problems, name, path);
  if (name.split('.').length >= (least === 'two' ? 2 : 3)) return [];
  return [invalid(path, name, `should be a domain with at least ${least} segments separated by dots`)];
}

function join(problems: readonly string[], value: string, path: string): FieldError[] {
  return problems.length === 0 ? [] : [invalid(path, value, problems.join(','))];
}
