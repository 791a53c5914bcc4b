import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { VirtualClock } from 'riata/runtime';
import { afterEach, expect, test } from 'vitest';
import { FollowedLinks } from './followed-links.js';
import { openLink } from './operator-link.js';
import type { OperatorPods } from './operator-pods.js';
import { until } from './running-operator.fixture.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** The page of a Pod that says whether it leads. */
async function pageOf(leads: () => boolean): Promise<number> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ leader: { isLeader: leads() } }));
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

/** An operator with two Pods, whose leader and whose uids change. */
async function setUp({ pod }: { readonly pod?: string } = {}) {
  let leader = 'a';
  const uids: Record<string, string> = { a: 'a-1', b: 'b-1' };
  const ports: Record<string, number> = {
    a: await pageOf(() => leader === 'a'),
    b: await pageOf(() => leader === 'b'),
  };
  const clock = new VirtualClock();
  const { signal } = new AbortController();
  const moved: string[] = [];
  const open = new Set<object>();
  const links = new FollowedLinks({
    ...{ isChosen: pod !== undefined, clock, signal, onMoved: (link) => moved.push(link.pod) },
    open: async () => {
      const find = () => Object.entries(uids).map(([name, uid]) => ({ name, uid }));
      let found = find();
      const pods = {
        ...{ namespace: 'shop', [Symbol.asyncDispose]: async () => {} },
        get found() {
          return found;
        },
        get names() {
          return found.map(({ name }) => name);
        },
        async refresh() {
          found = find();
        },
        async forward(name: string) {
          const forward = {
            url: `http://127.0.0.1:${ports[name]}`,
            problem: () => undefined,
            [Symbol.asyncDispose]: async () => void open.delete(forward),
          };
          open.add(forward);
          return forward;
        },
      } as unknown as OperatorPods;
      const parts = { pods, ports: [{ port: 8080, isHttps: false }], token: async () => undefined, signal };
      return { pods, link: await openLink({ ...parts, ...(pod !== undefined && { pod }) }) };
    },
  });
  const lead = (name: string) => {
    leader = name;
  };
  return { clock, links, uids, moved, open, lead };
}

/** Waits for the link to a Pod; requests of a check are real ones. */
async function linkTo(links: FollowedLinks, clock: VirtualClock, name: string): Promise<void> {
  await until(async () => {
    await clock.advance(5_000);
    return (await links.get()).pod === name ? true : undefined;
  });
}

test('follows the leader, and stays where it is while none leads', async () => {
  const { clock, links, moved, open, lead } = await setUp();
  await using _links = links;
  const first = await links.get();
  expect(first.pod).toBe('a');
  lead('nobody');
  await clock.advance(20_000);
  expect(await links.get()).toBe(first);
  lead('b');
  await linkTo(links, clock, 'b');
  expect(moved).toEqual(['b']);
  // A check in flight may have one more open, and closes it.
  await until(() => (open.size === 1 ? true : undefined));
});

test('a Pod that the user named stays, and one that was replaced is linked to again', async () => {
  const { clock, links, uids, moved, lead } = await setUp({ pod: 'a' });
  await using _links = links;
  const first = await links.get();
  lead('b');
  await clock.advance(20_000);
  expect(await links.get()).toBe(first);
  uids.a = 'a-2';
  await until(async () => {
    await clock.advance(5_000);
    return (await links.get()) === first ? undefined : true;
  });
  expect((await links.get()).pod).toBe('a');
  expect(moved).toEqual([]);
});
