import { Pod } from 'riata/kinds';
import { expect, test } from 'vitest';
import { describeStreams, writtenLogs } from './streams-play.js';

describeStreams('merged logs', (cluster) => {
  /** A Pod whose container has started, with a log. */
  async function start(name: string, ...lines: string[]): Promise<string[]> {
    const { client, pod, node } = cluster();
    const { namespace } = pod;
    const container = { name: 'main', image: 'web' };
    const spec = { nodeName: node, containers: [container], automountServiceAccountToken: false };
    writtenLogs.set(`${namespace}/${name}`, lines);
    await client.create(Pod({ metadata: { namespace, name, labels: { app: 'talk' } }, spec }));
    const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
    const status = { containerStatuses: [{ ...container, imageID: '', ready: true, restartCount: 0, state }] };
    await client.status.patch(Pod, { namespace, name }, { type: 'merge', body: { status } });
    return lines;
  }

  test('come line by line, go on over restarts and with new Pods, and no line comes twice', async () => {
    const { client, pod } = cluster();
    const selection = { namespace: pod.namespace, labelSelector: 'app=talk' };
    const first = await start('talk-0', 'one', 'two');
    await start('talk-1', 'uno');
    const once: string[] = [];
    for await (const { pod: name, container, text } of await client.logs(selection)) {
      once.push(`${name}/${container} ${text}`);
    }
    expect(once.sort()).toEqual(['talk-0/main one', 'talk-0/main two', 'talk-1/main uno']);

    const failures: unknown[] = [];
    await using followed = await client.logs(selection, { follow: true, onError: (error) => failures.push(error) });
    const seen: string[] = [];
    for await (const { pod: name, text } of followed) {
      seen.push(`${name} ${text}`);
      if (seen.length === 3) {
        // The log is opened again where it ended, and another Pod comes.
        first.push('three');
        await start('talk-2', 'eins');
      }
      if (seen.length === 5) break;
    }
    expect(seen.sort()).toEqual(['talk-0 one', 'talk-0 three', 'talk-0 two', 'talk-1 uno', 'talk-2 eins']);
    expect(failures).toEqual([]);
  });
});
