import type { Json } from 'riata/object';
import { type FieldError, invalid } from '../../status/field-error.js';

/** What a port can speak, in the order in which it is told. */
export const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/** A port's number (`IsValidPortNum`). */
export function checkPortNumber(field: string, port: number): FieldError[] {
  return port >= 1 && port <= 65_535 ? [] : [invalid(field, port, 'must be between 1 and 65535, inclusive')];
}

/** A port's name (`IsValidPortName`). */
export function checkPortName(field: string, name: string): FieldError[] {
  return portNameProblems(name).map((problem) => invalid(field, name, problem));
}

/** A number or a name (`ValidatePortNumOrName`). */
export function checkPort(field: string, port: Json | undefined): FieldError[] {
  return typeof port === 'string' ? checkPortName(field, port) : checkPortNumber(field, Number(port ?? 0));
}

export function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}
