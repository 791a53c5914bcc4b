import { expect, test } from 'vitest';
import { inDefault, Widget, widget, widgets } from '../widget.fixture.js';
import { simulate } from './simulate.js';
import type { StoryContext } from './simulate-options.js';

const story = async ({ client }: StoryContext) => {
  await client.create(widget('w'));
  await client.patch(Widget, inDefault('w'), { type: 'merge', body: { spec: { size: 2 } } });
};

test('another replica takes over the lease between two writes', async () => {
  const report = await simulate({
    ...{ kinds: [Widget], run: [widgets], story, replicas: 2, faults: ['leader-change'], runs: 2 },
    manager: { leaderElection: { namespace: 'default', name: 'widgets' } },
  });
  expect(report.faults.get('leader-change')).toBe(2);
});

test('another replica joins and takes over shards', async () => {
  const report = await simulate({
    ...{ kinds: [Widget], run: [widgets], story, faults: ['shard-move'], runs: 2 },
    manager: { sharding: { namespace: 'default', name: 'widgets' } },
  });
  expect(report.faults.get('shard-move')).toBe(2);
});
