import { expect, test } from 'vitest';
import { SharedRun } from './shared-run.js';

function job() {
  const runs: { signal: AbortSignal; finish: (value: string) => void; fail: (error: Error) => void }[] = [];
  const shared = new SharedRun<string>((signal) => new Promise((finish, fail) => runs.push({ signal, finish, fail })));
  return { runs, shared };
}

test('concurrent callers share one run; a later one starts a new run', async () => {
  const { runs, shared } = job();
  const both = Promise.all([shared.join(), shared.join()]);
  expect(runs).toHaveLength(1);
  runs[0]?.finish('a');
  expect(await both).toEqual(['a', 'a']);
  const next = shared.join();
  expect(runs).toHaveLength(2);
  runs[1]?.finish('b');
  expect(await next).toBe('b');
});

test('one who aborts leaves the others their run', async () => {
  const { runs, shared } = job();
  const controller = new AbortController();
  const leaves = shared.join(controller.signal);
  const stays = shared.join();
  controller.abort(new Error('gone'));
  await expect(leaves).rejects.toThrow('gone');
  expect(runs[0]?.signal.aborted).toBe(false);
  runs[0]?.finish('a');
  expect(await stays).toBe('a');
});

test('the last one who aborts takes the run along', async () => {
  const { runs, shared } = job();
  const controller = new AbortController();
  const waits = [shared.join(controller.signal), shared.join(controller.signal)];
  controller.abort(new Error('gone'));
  expect((await Promise.allSettled(waits)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(runs[0]?.signal.reason).toEqual(new Error('gone'));
  const next = shared.join();
  runs[1]?.finish('b');
  expect(await next).toBe('b');
});

test('a signal aborted before starts nothing', async () => {
  const { runs, shared } = job();
  await expect(shared.join(AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
  expect(runs).toHaveLength(0);
});

test('a failure reaches all and is not remembered', async () => {
  const { runs, shared } = job();
  const waits = [shared.join(), shared.join()];
  runs[0]?.fail(new Error('broken'));
  for (const wait of waits) await expect(wait).rejects.toThrow('broken');
  const next = shared.join();
  runs[1]?.finish('b');
  expect(await next).toBe('b');
});
