import { type FieldError, invalid } from '../../../status/field-error.js';

/** A path without `..` (`validatePathNoBacksteps`). */
export function checkNoBacksteps(value: string, path: string): FieldError[] {
  return value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : [];
}

/** A path below wherever one is (`validateLocalDescendingPath`). */
export function checkDescending(value: string, path: string): FieldError[] {
  return [
    ...(value.startsWith('/') ? [invalid(path, value, 'must be a relative path')] : []),
    ...checkNoBacksteps(value, path),
  ];
}

/** A relative path with a name that is not reserved (`ValidateLocalNonReservedPath`). */
export function checkNonReserved(value: string, path: string): FieldError[] {
  const reserved = value.startsWith('..') && !value.startsWith('../');
  return [...checkDescending(value, path), ...(reserved ? [invalid(path, value, "must not start with '..'")] : [])];
}
