import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runningChain } from './chain.fixture.js';
import type { HandlerRegistration } from './shared-controller-handler.js';

const names = ['a', 'b', 'c'];
const key = fc.constantFrom(...names);
const step = fc.oneof(
  fc.record({ do: fc.constant('put' as const), key, report: fc.boolean() }),
  fc.record({ do: fc.constant('remove' as const), key }),
  fc.record({ do: fc.constant('enqueue' as const), key }),
  fc.record({ do: fc.constant('add' as const), failures: fc.integer({ min: 0, max: 4 }), slow: fc.nat(20) }),
  fc.record({ do: fc.constant('drop' as const), nth: fc.nat(5) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(50) }),
);

/** One handler: what it last took, by key, and how often it still fails. */
interface Player {
  readonly taken: Map<string, string | undefined>;
  readonly running: Set<string>;
  failures: number;
}

test.each(['failed', 'all'] as const)(
  'every handler ends up with the last state of every object (retry: %s)',
  async (retry) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        await using run = await runningChain({ retry, workers: 2 });
        const state = new Map<string, string>();
        const touched = new Set<string>();
        const live = new Map<HandlerRegistration, Player>();
        const overlaps: string[] = [];
        const add = (failures: number, slow: number) => {
          const player: Player = { taken: new Map(), running: new Set(), failures };
          const registration = run.chain.add('one', async (at, object) => {
            if (player.running.has(at)) overlaps.push(at);
            player.running.add(at);
            if (slow > 0) await run.clock.sleep(slow);
            player.running.delete(at);
            if (player.failures > 0) {
              player.failures -= 1;
              throw new Error('again');
            }
            player.taken.set(at, object?.metadata.resourceVersion);
          });
          live.set(registration, player);
          for (const name of touched) run.enqueue(name, 'handler came');
        };
        /** Changes that are delivered a little later, as by a watch. */
        const late: string[] = [];
        for (const now of steps) {
          if ('key' in now) touched.add(now.key);
          if (now.do === 'put') {
            state.set(now.key, run.put(now.key, {}, now.report).metadata.resourceVersion);
            if (!now.report) late.push(now.key);
          } else if (now.do === 'remove') {
            state.delete(now.key);
            run.remove(now.key);
          } else if (now.do === 'enqueue') run.enqueue(now.key, 'enqueue');
          else if (now.do === 'add') add(now.failures, now.slow);
          else if (now.do === 'wait') {
            await run.clock.advance(now.ms);
            for (const name of late.splice(0)) run.enqueue(name);
          } else {
            const [registration] = [...live.keys()].slice(now.nth);
            if (registration === undefined) continue;
            live.delete(registration);
            void registration.remove();
          }
        }
        for (const name of late) run.enqueue(name);
        await run.clock.advance(600_000);
        expect(overlaps).toEqual([]);
        for (const { taken } of live.values()) {
          for (const name of touched) expect(taken.get(`shop/${name}`)).toBe(state.get(name));
        }
      }),
      { numRuns: 60, seed: 7 },
    );
  },
);
