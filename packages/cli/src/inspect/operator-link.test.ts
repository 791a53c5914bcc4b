import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openLink } from './operator-link.js';
import type { OperatorPods } from './operator-pods.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A Pod's pages: answers by the token that is sent. */
async function pages(answer: (token: string | undefined) => { status: number; body?: object }): Promise<number> {
  const server = createServer((request, response) => {
    const { status, body = {} } = answer(request.headers.authorization?.replace('Bearer ', ''));
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify(body));
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

/** Pods by name, with the local port that stands for each of their own. */
function podsOf(ports: Readonly<Record<string, number>>, token?: () => Promise<string>) {
  const open = new Set<string>();
  const pods = {
    ...{ namespace: 'shop', names: Object.keys(ports) },
    token: token ?? (() => Promise.reject(new Error('forbidden'))),
    async forward(name: string) {
      open.add(name);
      return {
        url: `http://127.0.0.1:${ports[name]}`,
        problem: () => undefined,
        [Symbol.asyncDispose]: async () => void open.delete(name),
      };
    },
  } as unknown as OperatorPods;
  return { pods, open };
}

const { signal } = new AbortController();
const ports = [{ port: 8080, isHttps: false }];
const noToken = async () => undefined;
const leads = (isLeader: boolean) => () => ({ status: 200, body: { leader: { isLeader } } });

test('of several Pods, the leader; without one, the first; or the one that is named', async () => {
  const [first, second] = [await pages(leads(false)), await pages(leads(true))];
  const { pods, open } = podsOf({ a: first, b: second });
  const link = await openLink({ pods, ports, token: noToken, signal });
  expect(link).toMatchObject({ pod: 'b', isLeader: true });
  expect([...open]).toEqual(['b']);
  expect(await openLink({ pods, ports, token: noToken, signal, pod: 'a' })).toMatchObject({ pod: 'a' });
  const waiting = podsOf({ c: first, d: first });
  expect(await openLink({ ...waiting, ports, token: noToken, signal })).toMatchObject({ pod: 'c', isLeader: false });
  expect([...waiting.open]).toEqual(['c']);
});

test('without a token of their own, viewers look with one of the operator, and cannot act', async () => {
  const port = await pages((token) => ({ status: token === 'operators' ? 200 : 401 }));
  const { pods } = podsOf({ a: port }, async () => 'operators');
  const link = await openLink({ pods, ports, token: noToken, signal });
  expect(link.token).toBe('operators');
  expect(link.actRefusal).toContain('give one with --token-file');
  const refused = podsOf({ a: port });
  await expect(openLink({ ...refused, ports, token: noToken, signal })).rejects.toThrow(
    'Pod shop/a: its pages are protected; your kubeconfig has no token',
  );
  expect([...refused.open]).toEqual([]);
});

test('a token that is not known, or may not look', async () => {
  const port = await pages((token) => ({ status: token === 'known' ? 403 : 401 }));
  const { pods, open } = podsOf({ a: port });
  const given = (token: string) => openLink({ pods, ports, token: async () => token, signal });
  await expect(given('other')).rejects.toThrow('Pod shop/a: the token is not known to the cluster');
  await expect(given('known')).rejects.toThrow(
    "you may not get /debug/*; bind a ClusterRole with nonResourceURLs: ['/debug/*']",
  );
  expect([...open]).toEqual([]);
});
