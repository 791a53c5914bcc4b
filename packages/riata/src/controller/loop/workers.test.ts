import { expect, test } from 'vitest';
import { Workers } from './workers.js';

/** Workers that each take one item at a time, and hold it until the test releases it. */
function setUp(target: number) {
  const held: (() => void)[] = [];
  let isOver = false;
  let working = 0;
  const workers = new Workers(target, async (isNeeded) => {
    working += 1;
    while (isNeeded() && !isOver) await new Promise<void>((resolve) => held.push(resolve));
    working -= 1;
  });
  const turn = async () => {
    for (const go of held.splice(0)) go();
    for (let tick = 0; tick < 10; tick += 1) await Promise.resolve();
  };
  const end = () => {
    isOver = true;
    return turn();
  };
  return { workers, turn, end, working: () => working };
}

test('there are as many as the target says, from the start, later, and fewer again', async () => {
  const { workers, turn, end, working } = setUp(1);
  workers.target = 3;
  const ran = workers.run();
  expect(working()).toBe(3);
  workers.target = 5;
  expect(working()).toBe(5);
  workers.target = 2;
  expect(working()).toBe(5);
  await turn();
  expect(working()).toBe(2);
  await end();
  await ran;
  workers.target = 4;
  expect(working()).toBe(0);
});

test('a failure is reported at once, also of a later worker', async () => {
  let fail = (_: Error) => {};
  const workers = new Workers(
    1,
    () =>
      new Promise<void>((_, reject) => {
        fail = reject;
      }),
  );
  const ran = workers.run();
  workers.target = 2;
  fail(new Error('the second one'));
  await expect(ran).rejects.toThrow('the second one');
});
