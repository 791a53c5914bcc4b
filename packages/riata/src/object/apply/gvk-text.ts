import { formatGvk, parseApiVersion } from '../gvk.js';

/** The kind of an object, as messages print it; unreadable parts are empty. */
export function gvkText(object: { readonly apiVersion?: unknown; readonly kind?: unknown }): string {
  const kind = typeof object.kind === 'string' ? object.kind : '';
  const apiVersion = typeof object.apiVersion === 'string' ? object.apiVersion : '';
  // One that has too many slashes counts as none.
  const { group, version } = /\/.*\//.test(apiVersion) ? { group: '', version: '' } : parseApiVersion(apiVersion);
  return formatGvk({ group, version, kind });
}
