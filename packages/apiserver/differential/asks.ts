import type { Past } from './pair.js';
import type { Ask } from './wire.js';

type More = Partial<Ask>;

export const get = (path: string, more: More = {}): Ask => ({ method: 'GET', path, ...more });
export const post = (path: string, body: unknown, more: More = {}): Ask => ({ method: 'POST', path, body, ...more });
export const put = (path: string, body: unknown, more: More = {}): Ask => ({ method: 'PUT', path, body, ...more });
export const remove = (path: string, body?: unknown, more: More = {}): Ask => ({
  method: 'DELETE',
  path,
  body,
  ...more,
});

const patch =
  (type: string) =>
  (path: string, body: unknown, more: More = {}): Ask => ({ method: 'PATCH', path, body, type, ...more });

export const merge = patch('application/merge-patch+json');
export const jsonPatch = patch('application/json-patch+json');
export const strategic = patch('application/strategic-merge-patch+json');
export const apply = patch('application/apply-patch+yaml');

/**
 * Waits until the server knows of an earlier answer in what it has in memory: from there the real one serves watches and
 * all that asks for no certain revision, and it hears of its own writes a moment later.
 */
export const eventsOf =
  (path: string, name: string) =>
  (past: Past): Ask =>
    get(`${path}?resourceVersion=${past.revision(name)}&resourceVersionMatch=NotOlderThan&limit=1`, {
      until: ({ status }) => status === 200,
      silent: true,
    });

/** Where the objects of a built-in kind are. */
export const configMaps = (ns: string) => `/api/v1/namespaces/${ns}/configmaps`;
export const secrets = (ns: string) => `/api/v1/namespaces/${ns}/secrets`;
export const namespaces = '/api/v1/namespaces';
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const namespace = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
  ...more,
});

export const configMap = (name: string, data: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});
