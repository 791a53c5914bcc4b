import { expect, test } from 'vitest';
import { RawConnections } from './raw-connections.js';
import { describeServers, until } from './servers.js';

const configMap = (name: string, data: object = {}) => ({ metadata: { name, labels: { of: 'test' } }, data });

describeServers(
  'connections',
  (server) => {
    test('one is enough for all answers one after the other, good or bad, long or empty', async () => {
      using connections = await RawConnections.to(server(), 1);
      const all = `/api/v1/namespaces/${await server().namespace()}/configmaps`;
      const codes = [
        await connections.ask('POST', all, configMap('a', { long: 'x'.repeat(300_000) })),
        await connections.ask('GET', all),
        await connections.ask('GET', `${all}/a`),
        await connections.ask('HEAD', `${all}/a`),
        await connections.ask('GET', `${all}/none`),
        await connections.ask('POST', all, configMap('a')),
        await connections.ask('POST', all, configMap('A')),
        await connections.ask('PATCH', `${all}/a`, []),
        await connections.ask('GET', `${all}?watch=1&timeoutSeconds=1`),
        await connections.ask('GET', `${all}?watch=1&resourceVersion=x`),
        await connections.ask('GET', '/nope'),
        await connections.ask('DELETE', `${all}/a`),
        await connections.ask('GET', '/readyz'),
      ];
      expect(codes).toEqual([201, 200, 200, 405, 404, 409, 422, 415, 200, 500, 404, 200, 200]);
      expect(connections.ports.size).toBe(1);
    });

    test('many watches, each on its own connection, all get events; and those that stay when others go', async () => {
      using connections = await RawConnections.to(server(), 200);
      const all = `/api/v1/namespaces/${await server().namespace()}/configmaps`;
      const received: string[] = Array.from({ length: 100 }, () => '');
      const watches = await Promise.all(
        received.map(async (_, i) => {
          const answer = await connections.open('GET', `${all}?watch=1&timeoutSeconds=300&labelSelector=of%3Dtest`);
          answer.setEncoding('utf8');
          answer.on('data', (part: string) => {
            received[i] += part;
          });
          answer.on('error', () => {});
          return answer;
        }),
      );
      expect(connections.ports.size).toBe(100);
      const namesReceived = (text: string) =>
        text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line).object.metadata.name as string);
      const allHear = (from: number, names: readonly string[]) =>
        until(`all from ${from} on are told of ${names}`, async () =>
          received.slice(from).every((text) => namesReceived(text).length >= names.length),
        );
      expect(await connections.ask('POST', all, configMap('first'))).toBe(201);
      await allHear(0, ['first']);
      for (const watch of watches.slice(0, 50)) watch.destroy();
      expect(await connections.ask('POST', all, configMap('second'))).toBe(201);
      await allHear(50, ['first', 'second']);
      expect(new Set(received.slice(50).map((text) => namesReceived(text).join()))).toEqual(new Set(['first,second']));
      for (const watch of watches) watch.destroy();
      expect(await connections.ask('GET', `${all}/second`)).toBe(200);
    });
  },
  ['https', 'kube-apiserver'],
);
