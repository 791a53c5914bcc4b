import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, systemClock } from 'riata/runtime';

/** An API server for both servers to stand behind: it serves `things` of any group, and tells what it was sent. */
export async function aggregatedServer() {
  const hourMs = 3_600_000;
  const now = systemClock.now();
  const authority = createAuthority('extension', {
    notBefore: new Date(now - hourMs),
    notAfter: new Date(now + hourMs),
  });
  /** Those that somebody has asked for. */
  const groups = new Set<string>();
  const server = createServer(authority.issue('extension', ['*.default.svc']), (request, response) => {
    void serve(request, response, groups);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    caBundle: Buffer.from(authority.cert).toString('base64'),
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Known names with other contents, and what no path uses. */
function openApi(groups: ReadonlySet<string>): object {
  const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
  const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
  const named = [...groups].filter((group) => group.startsWith('open-api.'));
  const path = (group: string, version: string) => ({
    [`/apis/${group}/${version}/things`]: {
      get: { responses: { 200: { description: 'custom words', schema: ref('com.open-api.v1.Thing') } } },
      parameters: [{ $ref: '#/parameters/open-limit' }],
    },
  });
  return {
    ...{ swagger: '2.0', info: { title: 'things', version: '1' } },
    paths: Object.assign({}, ...named.flatMap((group) => [path(group, 'v1'), path(group, 'v2')])),
    definitions: {
      'com.open-api.v1.Thing': {
        type: 'object',
        properties: { metadata: ref(meta), part: ref('com.open-api.v1.Part') },
        'x-kubernetes-group-version-kind': named.map((group) => ({ group, version: 'v1', kind: 'Thing' })),
      },
      'com.open-api.v1.Part': { type: 'string' },
      'com.open-api.v1.Unused': { type: 'string' },
      [meta]: { type: 'object', properties: { title: { type: 'string' } } },
    },
    parameters: { 'open-limit': { name: 'limit', in: 'query', type: 'integer', uniqueItems: true } },
  };
}

const verbs = ['create', 'get', 'list', 'watch'];

async function serve(request: IncomingMessage, response: ServerResponse, groups: Set<string>): Promise<void> {
  let body = '';
  for await (const piece of request) body += piece;
  const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'https://here');
  const send = (code: number, answer: object, headers: object = {}) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answer));
  };
  const [, head, group = '', version = '', ...rest] = path.split('/');
  const groupVersion = `${group}/${version}`;
  if (path === '/openapi/v3') return send(200, { paths: {} });
  if (path === '/openapi/v2') return send(200, openApi(groups));
  groups.add(group);
  if (head !== 'apis' || group === '')
    return send(404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 });
  if (group.startsWith('broken')) return send(500, { message: 'out of order' });
  if (rest.length === 0) {
    const things = {
      name: 'things',
      singularName: 'thing',
      namespaced: true,
      kind: 'Thing',
      verbs,
      shortNames: ['th'],
    };
    const status = { ...things, name: 'things/status', singularName: '', shortNames: undefined, verbs: ['get'] };
    return send(200, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: [things, status] });
  }
  const name = rest.at(-1) ?? '';
  if (name === 'redirect') return send(302, {}, { location: '/elsewhere' });
  if (name === 'teapot')
    return send(418, { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'short', code: 418 });
  if (query.get('watch') === 'true') {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const one of ['a', 'b', 'last']) {
      const object = { apiVersion: groupVersion, kind: 'Thing', metadata: { name: one, resourceVersion: '1' } };
      response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
      await systemClock.sleep(20);
    }
    return void response.end();
  }
  const sent = Object.entries(request.headers).filter(([key]) => key.startsWith('x-remote-') || shown.includes(key));
  send(request.method === 'POST' ? 201 : 200, {
    ...{ apiVersion: groupVersion, kind: 'Thing', metadata: { name } },
    ...{ method: request.method, query: [...query].map(String).sort(), sent: Object.fromEntries(sent), body },
  });
}

/** Headers that are told beside those of a front proxy. */
const shown = ['authorization', 'impersonate-user', 'content-type', 'accept', 'host', 'x-own'];
