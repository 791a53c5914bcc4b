import type { JsonObject } from 'riata/object';
import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { atOnce, inSlices, wait } from '../steps.js';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.js';
import { AdmissionChain } from './admission-chain.js';
import { enabledPlugins } from './enabled-plugins.js';

const attributes = (operation: AdmissionAttributes['operation'], object?: JsonObject) =>
  ({ operation, object, name: 'x' }) as unknown as AdmissionAttributes;

const marks = (name: string, more: Partial<AdmissionPlugin> = {}): AdmissionPlugin => ({
  name,
  // biome-ignore lint/correctness/useYield: it waits for nothing.
  *admit({ object }) {
    return { ...object, by: [...((object?.by as string[] | undefined) ?? []), name] };
  },
  ...more,
});

test('runs plugins in order, each on the result of the one before', () => {
  const chain = new AdmissionChain([marks('A'), marks('B', { handles: () => false }), marks('C')]);
  expect(atOnce(chain.admit(attributes('CREATE', {})))).toEqual({ by: ['A', 'C'] });
});

test('ignores the objects that plugins return for a deletion', () => {
  const chain = new AdmissionChain([marks('A')]);
  expect(atOnce(chain.admit(attributes('DELETE')))).toBeUndefined();
});

test('waits for asynchronous plugins', async () => {
  const seen: unknown[] = [];
  const plugin: AdmissionPlugin = {
    name: 'Asks',
    *validate({ name }) {
      seen.push(yield* wait(Promise.resolve(name)));
      yield* wait(Promise.reject(new Error('no')));
    },
  };
  const chain = new AdmissionChain([plugin]);
  await expect(inSlices(new VirtualClock(), chain.validate(attributes('CREATE')))).rejects.toThrow('no');
  expect(seen).toEqual(['x']);
  expect(() => atOnce(chain.validate(attributes('CREATE')))).toThrow(/cannot be done at once/);
});

test('enables and disables plugins by name, in their order', () => {
  const usual = enabledPlugins();
  expect(usual[0]).toBe('NamespaceLifecycle');
  expect(usual).not.toContain('AlwaysPullImages');
  const other = enabledPlugins({ enable: ['AlwaysPullImages'], disable: ['LimitRanger'] });
  expect(other.filter((name) => name !== 'AlwaysPullImages')).toEqual(usual.filter((name) => name !== 'LimitRanger'));
  const at = other.indexOf('AlwaysPullImages');
  expect([other[at - 1], other[at + 1]]).toEqual(['TaintNodesByCondition', 'PodSecurity']);
});

test.each([
  [{ enable: ['Nope'] }, 'enable-admission-plugins plugin "Nope" is unknown'],
  [{ disable: ['Nope'] }, 'disable-admission-plugins plugin "Nope" is unknown'],
  [
    { enable: ['LimitRanger', 'Priority'], disable: ['Priority', 'LimitRanger'] },
    '[LimitRanger Priority] in enable-admission-plugins and disable-admission-plugins overlapped',
  ],
])('refuses %j', (options, message) => expect(() => enabledPlugins(options)).toThrow(message));
