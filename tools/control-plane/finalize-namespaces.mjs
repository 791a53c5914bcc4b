// @ts-check
import { Agent, request } from 'node:https';

/**
 * Removes the finalizer `kubernetes` from all namespaces that are Terminating. Without a namespace controller they stay, and
 * one that starts would process those of all earlier test files, a hundred requests each, before the first of its own file.
 * What is in them stays, as it did before.
 * @param {{ url: string, ca: string, token: string }} server
 */
export async function finalizeNamespaces({ url, ca, token }) {
  const agent = new Agent({ keepAlive: true, ca });
  /** @param {string} method @param {string} path @param {object} [body] */
  const call = (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = request(url + path, { agent, method, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece) => (text += piece));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode = 0 } = response;
          // Another request may have been faster.
          if (statusCode < 300 || statusCode === 404 || statusCode === 409) resolve(JSON.parse(text));
          else reject(new Error(`${method} ${path}: the API server answered ${statusCode}: ${text}`));
        });
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  try {
    const { items } = await call('GET', '/api/v1/namespaces');
    for (const namespace of items) {
      if (namespace.status.phase !== 'Terminating' || !namespace.spec.finalizers) continue;
      const finalized = { apiVersion: 'v1', kind: 'Namespace', ...namespace, spec: { finalizers: [] } };
      await call('PUT', `/api/v1/namespaces/${namespace.metadata.name}/finalize`, finalized);
    }
  } finally {
    agent.destroy();
  }
}
