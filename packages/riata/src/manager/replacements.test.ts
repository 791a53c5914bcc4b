import { expect, test } from 'vitest';
import { abortable } from '../runtime/signals.js';
import { Replacements } from './replacements.js';

/** Values that are put in place one by one, when the test says so. */
function steps() {
  const log: string[] = [];
  const open = new Map<string, (error?: Error) => void>();
  const replacements = new Replacements<string>(async (next, { signal }) => {
    log.push(`try ${next}`);
    const step = new Promise<void>((resolve, reject) => {
      open.set(next, (error) => (error === undefined ? resolve() : reject(error)));
    });
    await abortable(step, signal);
    log.push(`done ${next}`);
  });
  return { log, replacements, end: (name: string, error?: Error) => open.get(name)?.(error) };
}

test('one after the other', async () => {
  const { log, replacements, end } = steps();
  const first = replacements.add('a');
  end('a');
  await first;
  const second = replacements.add('b');
  end('b');
  await second;
  expect(log).toEqual(['try a', 'done a', 'try b', 'done b']);
});

test('a newer one interrupts those before, which are superseded once it is in place', async () => {
  const { log, replacements, end } = steps();
  const all = Promise.all([replacements.add('a'), replacements.add('b'), replacements.add('c')]);
  await Promise.resolve();
  await new Promise(setImmediate);
  end('c');
  await all;
  expect(log).toEqual(['try a', 'try c', 'done c']);
});

test('if the newest fails, the one before it is tried', async () => {
  const { log, replacements, end } = steps();
  const older = replacements.add('a');
  const newest = replacements.add('b');
  newest.catch(() => {});
  await new Promise(setImmediate);
  end('b', new Error('broken'));
  await expect(newest).rejects.toThrow('broken');
  await new Promise(setImmediate);
  end('a');
  await older;
  expect(log).toEqual(['try a', 'try b', 'try a', 'done a']);
});

test('after the end, none is put in place', async () => {
  const { log, replacements } = steps();
  const pending = replacements.add('a');
  pending.catch(() => {});
  replacements.end(new Error('removed'));
  await expect(pending).rejects.toThrow('removed');
  await expect(replacements.add('b')).rejects.toThrow('removed');
  expect(log).toEqual(['try a']);
});
