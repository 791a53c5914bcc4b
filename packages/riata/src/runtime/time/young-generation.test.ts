import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { VirtualClock } from './virtual-clock.js';
import { YoungGeneration, youngSpaceOf } from './young-generation.js';

const MB = 1 << 20;

function young(capacityMb: number) {
  const clock = new VirtualClock();
  const space = { capacityMb, set: [] as number[], fails: false };
  const generation = new YoungGeneration(
    {
      capacity: () => {
        if (space.fails) throw new Error('not here');
        return space.capacityMb * MB;
      },
      collectFrom: (percent) => space.set.push(percent),
    },
    clock,
  );
  const add = (count = 256) => {
    for (let i = 0; i < count; i++) generation.added();
  };
  const replace = (count = 1024) => {
    for (let i = 0; i < count; i++) generation.replaced();
  };
  return { clock, space, generation, add, replace };
}

test('while objects are added, the young generation is collected from 4 MB on, however large it has grown', () => {
  const { space, add } = young(1);
  add();
  space.capacityMb = 4;
  add();
  expect(space.set).toEqual([]);
  for (const capacityMb of [8, 16, 16, 32, 64, 64, 1024]) {
    space.capacityMb = capacityMb;
    add();
  }
  expect(space.set).toEqual([50, 25, 13, 7, 1]);
});

test('while objects are replaced, it is collected from 8 MB on', () => {
  const { space, replace } = young(8);
  replace();
  expect(space.set).toEqual([]);
  for (const capacityMb of [16, 32, 64]) {
    space.capacityMb = capacityMb;
    replace();
  }
  expect(space.set).toEqual([50, 25, 13]);
});

test('objects that are replaced while others are added change nothing', async () => {
  const { clock, space, add, replace } = young(64);
  add();
  replace();
  await clock.advance(999);
  replace();
  expect(space.set).toEqual([7]);
  await clock.advance(1);
  replace();
  expect(space.set).toEqual([7, 13]);
});

test('a few objects are not worth a look', () => {
  const { clock, space, add, replace } = young(64);
  add(255);
  replace(1023);
  expect(space.set).toEqual([]);
  expect(clock.pending).toBe(0);
  add(1);
  expect(space.set).toEqual([7]);
});

test('five seconds after the last look, all is as it was', async () => {
  const { clock, space, add } = young(64);
  add();
  await clock.advance(4_000);
  add();
  await clock.advance(4_999);
  expect(space.set).toEqual([7]);
  await clock.advance(1);
  expect(space.set).toEqual([7, 80]);
  expect(clock.pending).toBe(0);
  add();
  await clock.advance(5_000);
  expect(space.set).toEqual([7, 80, 7, 80]);
});

test('nothing waits where nothing was set', () => {
  const { clock, add } = young(4);
  add();
  expect(clock.pending).toBe(0);
});

test('what has shrunk meanwhile is left as V8 has it', async () => {
  const { clock, space, add } = young(64);
  add();
  space.capacityMb = 1;
  add();
  expect(space.set).toEqual([7, 80]);
  await clock.advance(10_000);
  expect(space.set).toEqual([7, 80]);
});

test('switched off: as it was at once, and for ever', () => {
  const { clock, space, generation, add } = young(64);
  add();
  generation.leave();
  add();
  expect(space.set).toEqual([7, 80]);
  expect(clock.pending).toBe(0);
});

test('an engine that cannot say its sizes is left alone', () => {
  const { clock, space, add } = young(64);
  space.fails = true;
  add();
  space.fails = false;
  add();
  expect(space.set).toEqual([]);
  expect(clock.pending).toBe(0);
});

test.each([
  ['no V8', undefined, ''],
  ['an older V8', '10.2.154.26-node.39', ''],
  ['a newer V8 than is known', '15.0.1', ''],
  ['a size of the young generation', '13.6.233.17', '--expose-gc --max-semi-space-size=16'],
  ['the same in the spelling of V8', '13.6.233.17', '--max_semi_space_size=16'],
  ['its least size', '13.6.233.17', '--min-semi-space-size 16'],
  ['how it grows', '13.6.233.17', '--semi-space-growth-factor=4'],
  ['when it is collected', '13.6.233.17', '--no-minor-gc-task'],
  ['none at all', '13.6.233.17', '--single-generation'],
])('not touched: %s', (_, v8, settings) => {
  expect(youngSpaceOf(v8, settings)).toBeUndefined();
});

test('touched: other settings, and the V8 of this Node', () => {
  const space = youngSpaceOf(process.versions.v8, '--max-old-space-size=4096 --enable-source-maps');
  expect(space?.capacity()).toBeGreaterThan(0);
});

test('this Node has the flag, and 80 is what it has by itself', () => {
  // In a process of its own: flags are of the whole process, which other tests run in.
  const script = `
    const { cachedDataVersionTag: flags, setFlagsFromString: set } = require('node:v8');
    const tags = [flags()];
    for (const percent of [7, 80]) {
      set('--minor-gc-task-trigger=' + percent);
      tags.push(flags());
    }
    console.log(JSON.stringify([tags[1] !== tags[0], tags[2] === tags[0]]));`;
  const told = execFileSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect(JSON.parse(told)).toEqual([true, true]);
});
