import { Sandbox } from '@riata/sandbox';
import { Pod } from 'riata/kinds';
import { expect, test, vi } from 'vitest';

const namespace = 'default';
const labels = { app: 'web' };
const web = (name: string) =>
  Pod({ metadata: { namespace, name, labels }, spec: { containers: [{ name: 'main', image: 'web' }] } });

async function running(sandbox: Sandbox, name: string): Promise<void> {
  await sandbox.client.create(web(name));
  await vi.waitFor(
    async () => expect((await sandbox.client.get(Pod, { namespace, name })).status?.phase).toBe('Running'),
    { timeout: 60_000, interval: 50 },
  );
}

test('logs of several Pods are merged, and end if they are not followed', async () => {
  await using sandbox = await Sandbox.start({ nodes: 1 });
  for (const name of ['a', 'b']) {
    await running(sandbox, name);
    await sandbox.writeLog({ namespace, name }, `${name} 1\n${name} 2`);
  }
  const seen: string[] = [];
  const logs = await sandbox.client.logs({ namespace, labelSelector: 'app=web' });
  for await (const { pod, container, text, time } of logs) {
    expect(Number.isNaN(Date.parse(time))).toBe(false);
    seen.push(`${pod}/${container}: ${text}`);
  }
  expect(seen.filter((line) => line.startsWith('a'))).toEqual(['a/main: a 1', 'a/main: a 2']);
  expect(seen.filter((line) => line.startsWith('b'))).toEqual(['b/main: b 1', 'b/main: b 2']);
});

test('followed, they show new lines, new Pods and Pods that go', async () => {
  await using sandbox = await Sandbox.start({ nodes: 1 });
  await running(sandbox, 'a');
  await sandbox.writeLog({ namespace, name: 'a' }, 'old\nlast');
  await using logs = await sandbox.client.logs({ namespace, labelSelector: labels }, { follow: true, tailLines: 1 });
  const next = async () => {
    const { value } = await logs.next();
    return `${value?.pod}: ${value?.text}`;
  };
  expect(await next()).toBe('a: last');
  await sandbox.writeLog({ namespace, name: 'a' }, 'new');
  expect(await next()).toBe('a: new');
  await running(sandbox, 'b');
  await sandbox.writeLog({ namespace, name: 'b' }, 'hello');
  expect(await next()).toBe('b: hello');
  await sandbox.client.delete(Pod, { namespace, name: 'a' });
  await sandbox.writeLog({ namespace, name: 'b' }, 'still here');
  expect(await next()).toBe('b: still here');
});

test('a restart does not end it, and no line comes twice', async () => {
  let isBroken = false;
  await using sandbox = await Sandbox.start({
    nodes: 1,
    fate: () => (isBroken ? { endsAfter: '0s', exitCode: 1 } : {}),
  });
  await running(sandbox, 'a');
  await sandbox.writeLog({ namespace, name: 'a' }, 'first run');
  await using logs = await sandbox.client.logs({ namespace, labelSelector: labels }, { follow: true });
  expect((await logs.next()).value?.text).toBe('first run');
  isBroken = true;
  const touch = { type: 'merge', body: { metadata: { annotations: { touched: 'yes' } } } } as const;
  await sandbox.client.patch(Pod, { namespace, name: 'a' }, touch);
  await vi.waitFor(
    async () => {
      const { status } = await sandbox.client.get(Pod, { namespace, name: 'a' });
      expect(status?.containerStatuses?.[0]?.restartCount).toBe(1);
    },
    { timeout: 60_000, interval: 50 },
  );
  isBroken = false;
  await sandbox.writeLog({ namespace, name: 'a' }, 'second run');
  expect((await logs.next()).value?.text).toBe('second run');
});
