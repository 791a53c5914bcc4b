import { impersonating, isForbidden, isNotFound } from 'riata';
import { isExecError } from 'riata/client';
import { Pod } from 'riata/kinds';
import { expect, test } from 'vitest';
import { rejection, until } from './servers.js';
import { describeStreams } from './streams-play.js';

type State = Readonly<Record<string, unknown>>;

describeStreams('debug', (cluster) => {
  /** Does as a node does: gives a state to each debug container that has none yet. */
  async function report(image: string, state: State): Promise<string> {
    const { client, pod } = cluster();
    const { name, statuses } = await until(`a container of ${image}`, async () => {
      const { spec, status } = await client.get(Pod, pod);
      const found = spec.ephemeralContainers?.find((container) => container.image === image);
      return found && { name: found.name, statuses: status.ephemeralContainerStatuses ?? [] };
    });
    const own = { name, image, imageID: '', ready: false, restartCount: 0, lastState: {}, state };
    const all = [...statuses, own];
    await client.status.patch(Pod, pod, { type: 'merge', body: { status: { ephemeralContainerStatuses: all } } });
    return name;
  }

  const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };

  test('adds a container, waits until it runs, and attaches to it', async () => {
    const { client, pod } = cluster();
    const debugging = client.debug(pod, { image: 'busybox', target: 'main', command: ['sh'], stdin: 'hello' });
    const name = await report('busybox', running);
    expect(name).toMatch(/^debugger-[a-z0-9]{5}$/);
    await using shell = await debugging;
    expect(shell.container).toBe(name);
    expect(await shell.text()).toBe(`attached to ${name}\nhello`);
    expect(await client.exec(pod, ['container'], { container: name }).text()).toBe(name);
    const { spec } = await client.get(Pod, pod);
    expect(spec.ephemeralContainers?.[0]).toMatchObject({
      ...{ name, image: 'busybox', targetContainerName: 'main', command: ['sh'], stdin: true },
    });
  });

  test('keeps the containers that others add at the same time', async () => {
    const { client, pod } = cluster();
    const before = (await client.get(Pod, pod)).spec.ephemeralContainers?.length ?? 0;
    const images = ['a', 'b', 'c', 'd'];
    const all = images.map((image) => client.debug(pod, { image, name: `tool-${image}` }));
    for (const image of images) await report(image, running);
    for (const one of all) await (await one).close();
    expect((await client.get(Pod, pod)).spec.ephemeralContainers).toHaveLength(before + 4);
  });

  test('reports in words why a container does not run', async () => {
    const { client, pod } = cluster();
    const missing = rejection(client.debug(pod, { image: 'no/such', name: 'missing' }));
    const message = 'Back-off pulling image "no/such"';
    await report('no/such', { waiting: { reason: 'ImagePullBackOff', message } });
    expect((await missing).message).toBe(
      'debug Pod web: container missing: cannot start: ImagePullBackOff: Back-off pulling image "no/such"',
    );
    expect(isExecError(await missing)).toBe(true);
    const short = rejection(client.debug(pod, { image: 'short', name: 'short' }));
    await report('short', { terminated: { exitCode: 3, reason: 'Error' } });
    const error = await short;
    expect(isExecError(error) && error.exitCode).toBe(3);
    expect(error.message).toContain('ended with exit code 3 (Error) before it was attached to');
  });

  test('ends with its signal, and refuses what the server refuses', async () => {
    const { client, pod } = cluster();
    const stop = new AbortController();
    const waiting = rejection(client.debug(pod, { image: 'slow', signal: stop.signal }));
    await report('slow', { waiting: { reason: 'ContainerCreating' } });
    stop.abort(new Error('enough'));
    expect((await waiting).message).toBe('enough');
    expect(isNotFound(await rejection(client.debug({ ...pod, name: 'none' }, { image: 'x' })))).toBe(true);
    const nobody = impersonating(client, { user: 'nobody-special' });
    expect(isForbidden(await rejection(nobody.debug(pod, { image: 'x' })))).toBe(true);
    await expect(client.debug(pod, { image: '' })).rejects.toThrow('image must be');
    const other = rejection(client.debug(pod, { image: 'changed', name: 'missing' }));
    expect((await other).message).toContain('existing ephemeral containers');
  });
});
