import { dnsLabel, dnsSubdomain } from '../schema/name-rules.js';

const prefix = 'system:serviceaccount:';

/** The user name of a ServiceAccount. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `${prefix}${namespace}:${name}`;
}

/** The groups of a ServiceAccount, that of all authenticated users not included. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** Namespace and name of the ServiceAccount that has this user name; undefined for any other user. */
export function parseServiceAccountUser(
  username: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(prefix)) return undefined;
  const [namespace = '', name = '', ...more] = username.slice(prefix.length).split(':');
  if (more.length > 0 || dnsLabel(namespace).length > 0 || dnsSubdomain(name).length > 0) return undefined;
  return { namespace, name };
}
