import { Buffer } from 'node:buffer';
import { lines } from 'riata';
import { Endpoints, Node, Pod, Service } from 'riata/kinds';
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

test('the script "http" answers proxied requests, to a Pod and to its Service, and port-forwards', async () => {
  await using sandbox = await Sandbox.start({
    nodes: 1,
    http: async ({ metadata }, port, request) =>
      new Response(
        `${metadata.name}:${port} ${request.method} ${new URL(request.url).pathname} ${await request.text()}`,
      ),
  });
  const { client } = sandbox;
  const labels = { app: 'web' };
  const containers = [{ name: 'main', image: 'web', ports: [{ containerPort: 8080 }] }];
  await client.create(Pod({ metadata: { ...pod, labels }, spec: { containers } }));
  await client.create(Service({ metadata: pod, spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] } }));
  for await (const event of client.retryingWatch(Endpoints, { namespace: pod.namespace })) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
    if (event.object.subsets?.some(({ addresses = [] }) => addresses.length > 0)) break;
  }
  expect(await client.proxy(pod, '/a').text()).toBe('web:8080 GET /a ');
  const service = { kind: Service, ...pod, port: 80 };
  expect(await client.proxy(service, '/b', { method: 'POST', body: 'x' }).text()).toBe('web:8080 POST /b x');
  await using to = await client.forward(service, { ports: [[0, 80]] });
  expect(await (await fetch(`${to.url}/c`, { method: 'PUT', body: 'y' })).text()).toBe('web:8080 PUT /c y');
  expect(await client.proxy({ kind: Node, name: 'sandbox-1' }, '/healthz').text()).toBe('ok');
});

test('without the script "http" a proxied request is refused, and says why', async () => {
  const clock = new VirtualClock();
  const sandbox = await running(clock);
  await using _ = { [Symbol.asyncDispose]: () => run(clock, sandbox.stop()) };
  const failure = sandbox.client.proxy({ ...pod, port: 80 }, '/').text();
  await expect(run(clock, failure)).rejects.toThrow('see the option "http" of the sandbox');
});

test('debug containers run, and their process is that of the script "attach"', async () => {
  const clock = new VirtualClock();
  const sandbox = await running(clock, { attach: async (_pod, io) => void (await io.stdout(`in ${io.container}`)) });
  await using _ = { [Symbol.asyncDispose]: () => run(clock, sandbox.stop()) };
  const shell = await run(clock, sandbox.client.debug(pod, { image: 'busybox', name: 'tools' }));
  expect(await run(clock, shell.text())).toBe('in tools');
});
