import { silentLogger, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from './api-server.js';
import type { TransportFlow } from './http/in-process/transport.js';

const configMaps = '/api/v1/namespaces/default/configmaps';

test('a client that does not read a list is cut off when the time of its request is over', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock, log: silentLogger });
  const robot = server.as({ user: 'robot', groups: ['system:masters'] });
  const headers = { authorization: `Bearer ${robot.token}`, 'content-type': 'application/json' };
  for (let n = 0; n < 600; n++) {
    const body = JSON.stringify({ metadata: { name: `m${n}` }, data: { filling: 'x'.repeat(2_000) } });
    await new Promise<void>((resolve, reject) => {
      const sink = { onHeaders: () => {}, onData: () => {}, onEnd: resolve, onError: reject };
      server.transport.dispatch({ method: 'POST', path: configMaps, headers, body }, sink);
    });
  }
  const { transport } = server.connect();
  let flow: TransportFlow | undefined;
  let bytes = 0;
  const failed = new Promise<Error>((resolve) => {
    transport.dispatch(
      { method: 'GET', path: configMaps, headers },
      {
        onHeaders: (_status, _headers, given) => {
          flow = given;
          given.pause();
        },
        onData: (part) => {
          bytes += part.length;
        },
        onEnd: () => resolve(new Error('the list has come to its end')),
        onError: (error) => resolve(error as Error),
      },
    );
  });
  await clock.settle();
  await clock.advance(59_999);
  expect(transport.running).toBe(1);
  await clock.advance(1);
  flow?.resume();
  await clock.settle();
  expect((await failed).message).toContain('the server has broken the answer off');
  // What was on its way; the rest was never made.
  expect(bytes).toBeLessThan(600_000);
  expect(transport.running).toBe(0);
});
