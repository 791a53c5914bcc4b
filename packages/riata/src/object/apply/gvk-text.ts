import { formatGvk, parseApiVersion } from '../gvk.js';

/** What an object says it is, as messages print it; what cannot be read counts as empty. */
export function gvkText(object: { readonly apiVersion?: unknown; readonly kind?: unknown }): string {
  const kind = typeof object.kind === 'string' ? object.kind : '';
  const apiVersion = typeof object.apiVersion === 'string' ? object.apiVersion : '';
  // One that has too many slashes counts as none.
  const { group, version } = /\/.*\//.test(apiVersion) ? { group: '', version: '' } : parseApiVersion(apiVersion);
  return formatGvk({ group, version, kind });
}
