import { TestEnvironment } from '@riata/testing';
import { Event, Node, Pod, type Taint, type Toleration } from 'riata/kinds';
import { expect, test } from 'vitest';
import { clusterControllers, nodeControllers } from '../controllers.js';
import { makeNodes } from './nodes.js';

const key = 'example.com/broken';
const taint = { key, effect: 'NoExecute' as const };

async function start() {
  const env = await TestEnvironment.start();
  await makeNodes(env.client, 1);
  await env.run(...nodeControllers(), ...clusterControllers());
  const create = (name: string, tolerations: readonly Toleration[] = []) => {
    const spec = { containers: [{ name: 'web', image: 'web:1' }], tolerations, nodeName: 'sandbox-1' };
    return env.client.create(Pod({ metadata: { namespace: 'default', name }, spec }));
  };
  const setTaints = async (taints: readonly Taint[]) => {
    await env.client.patch(Node, { name: 'sandbox-1' }, { type: 'merge', body: { spec: { taints } } });
    await env.settle();
  };
  const names = async () =>
    (await env.client.list(Pod, { namespace: 'default' })).items.map(({ metadata }) => metadata.name).sort();
  const events = async () =>
    (await env.client.list(Event, { namespace: 'default' })).items
      .filter(({ reason }) => reason === 'TaintManagerEviction')
      .map(({ message }) => message)
      .sort();
  return { env, create, setTaints, names, events, [Symbol.asyncDispose]: () => env.stop() };
}

test('Pods leave a node with a NoExecute taint: at once, when their time is over, or never', async () => {
  await using at = await start();
  await at.create('none');
  await at.create('forever', [{ key, operator: 'Exists' }]);
  await at.create('minute', [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }]);
  await at.env.settle();
  await at.setTaints([{ key, effect: 'NoSchedule' }]);
  expect(await at.names()).toEqual(['forever', 'minute', 'none']);
  await at.setTaints([taint]);
  expect(await at.names()).toEqual(['forever', 'minute']);
  await at.env.advance('59s');
  expect(await at.names()).toEqual(['forever', 'minute']);
  await at.env.advance('2s');
  await at.env.settle();
  expect(await at.names()).toEqual(['forever']);
  expect(await at.events()).toEqual([
    'Marking for deletion Pod default/minute',
    'Marking for deletion Pod default/none',
  ]);
});

test('a Pod stays if the taint goes in time, and its time starts over with the next', async () => {
  await using at = await start();
  await at.create('minute', [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }]);
  await at.env.settle();
  await at.setTaints([taint]);
  await at.env.advance('50s');
  await at.setTaints([]);
  await at.env.advance('5m');
  expect(await at.names()).toEqual(['minute']);
  expect(await at.events()).toEqual(['Cancelling deletion of Pod default/minute']);
  await at.setTaints([taint]);
  await at.env.advance('50s');
  expect(await at.names()).toEqual(['minute']);
  await at.env.advance('15s');
  await at.env.settle();
  expect(await at.names()).toEqual([]);
});

test('Pods leave a node that is not ready after five minutes', async () => {
  await using at = await start();
  await at.create('web');
  await at.env.settle();
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Test', message: '' }];
  await at.env.client.status.patch(
    Node,
    { name: 'sandbox-1' },
    { type: 'strategic', body: { status: { conditions } } },
  );
  await at.env.advance('4m');
  expect(await at.names()).toEqual(['web']);
  await at.env.advance('2m');
  await at.env.settle();
  expect(await at.names()).toEqual([]);
});
