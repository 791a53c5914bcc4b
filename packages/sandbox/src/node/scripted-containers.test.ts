import { Buffer } from 'node:buffer';
import { lines } from 'riata';
import { Pod } from 'riata/kinds';
import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { Sandbox } from '../sandbox.js';

const pod = { namespace: 'default', name: 'web' };
const web = Pod({ metadata: pod, spec: { containers: [{ name: 'main', image: 'web' }] } });

/** Moves time until a promise has settled. */
async function run<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  promise.then(done, done);
  while (!isDone) await clock.advance(1_000);
  return promise;
}

async function running(clock: VirtualClock, options: Parameters<typeof Sandbox.start>[0] = {}) {
  const sandbox = await run(clock, Sandbox.start({ clock, nodes: 1, ...options }));
  await run(clock, sandbox.client.create(web));
  await clock.advance(1_000);
  return sandbox;
}

test('scripts say what containers do, on a virtual clock', async () => {
  const clock = new VirtualClock();
  const sandbox = await running(clock, {
    exec: async ({ metadata }, [program, seconds], io) => {
      if (program !== 'sleep') return 127;
      await clock.sleep(Number(seconds) * 1000, { signal: io.signal });
      await io.stdout(`${metadata.name} slept`);
      return 0;
    },
  });
  await using _ = { [Symbol.asyncDispose]: () => run(clock, sandbox.stop()) };
  expect(await run(clock, sandbox.client.exec(pod, ['sleep', '30']).text())).toBe('web slept');
  await using ran = await run(clock, Promise.resolve(sandbox.client.exec(pod, ['ls'])));
  expect(await run(clock, ran.ended)).toEqual({ exitCode: 127 });
});

test('without a script every command fails, and says why', async () => {
  const clock = new VirtualClock();
  const sandbox = await running(clock);
  await using _ = { [Symbol.asyncDispose]: () => run(clock, sandbox.stop()) };
  const failure = sandbox.client.exec(pod, ['ls']).text();
  await expect(run(clock, failure)).rejects.toThrow('no script for ls');
});

test('logs are what tests write; a followed one ends with its Pod', async () => {
  const clock = new VirtualClock();
  const sandbox = await running(clock);
  await using _ = { [Symbol.asyncDispose]: () => run(clock, sandbox.stop()) };
  const { client } = sandbox;
  await run(clock, sandbox.writeLog(pod, 'one\ntwo\n'));
  const text = async (options: object) => {
    let all = '';
    for await (const bytes of await client.logs(pod, options)) all += Buffer.from(bytes);
    return all;
  };
  expect(await run(clock, text({}))).toBe('one\ntwo\n');
  expect(await run(clock, text({ tailLines: 1, timestamps: true }))).toMatch(/^\d{4}-.*Z two\n$/);
  const seen: string[] = [];
  const following = (async () => {
    for await (const line of lines(await client.logs(pod, { follow: true }))) seen.push(line);
  })();
  await clock.advance(20_000);
  await run(clock, sandbox.writeLog(pod, 'three'));
  await clock.advance(1_000);
  expect(seen).toEqual(['one', 'two', 'three']);
  await run(clock, client.delete(Pod, pod));
  await run(clock, following);
});

test('attach shows what the container writes from now on', async () => {
  const clock = new VirtualClock();
  const sandbox = await running(clock);
  await using _ = { [Symbol.asyncDispose]: () => run(clock, sandbox.stop()) };
  await run(clock, sandbox.writeLog(pod, 'before'));
  await using attached = await run(clock, Promise.resolve(sandbox.client.attach(pod)));
  await clock.advance(10);
  await run(clock, sandbox.writeLog(pod, 'after'));
  const { value } = await run(clock, attached.stdout.next());
  expect(Buffer.from(value as Uint8Array).toString()).toBe('after\n');
});
