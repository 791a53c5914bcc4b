import { type Client, type Manager, TerminalError } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { registerStatusHandler, TypedController } from 'riata/patterns';
import type { SharedControllerFactory } from 'riata/shared';
import { describe, expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

type Context = { readonly client: Client; readonly apply: (object: never) => Promise<unknown> };

/** Runs a reconciler once, on one Widget, until all has settled. Secrets cannot be written. */
async function runOn(reconcile: (context: Context) => unknown) {
  const env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  for (const verb of ['create', 'patch'] as const) env.faults.add({ verb, kind: Secret }, { fail: { code: 403 } });
  let runs = 0;
  const widgets = control(Widget, { name: 'widgets', backoff: () => '1h' }).reconcile(async (context) => {
    runs += 1;
    if (runs === 1) await reconcile(context as never);
  });
  const manager = await env.run(widgets);
  await env.client.create(widget('a'));
  await env.settle();
  return {
    manager,
    runs: () => runs,
    reports: env.log.records.filter(({ message }) => message.includes('without awaiting')),
    first: manager.explain.at(0),
    failures: env.log.records.filter(({ level, message }) => level === 'error' && message.includes('reconcile failed')),
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

const secret = (name: string) => Secret({ metadata: inDefault(name) });
const configMap = (name: string) => ConfigMap({ metadata: inDefault(name) });
const unowned = 'a call failed, and nothing awaited it or handled its failure';
const here = /missing-await\.test\.ts:\d+:\d+/;

describe('a call that is not awaited', () => {
  test('and succeeds: reported with its line, and waited for', async () => {
    await using run = await runOn(({ client }) => void client.create(configMap('c')));
    expect(run.reports).toMatchObject([
      {
        level: 'warn',
        message: 'the reconciler returned without awaiting a call',
        fields: { controller: 'widgets', key: 'default/a', call: 'create ConfigMap default/c', state: 'pending' },
      },
    ]);
    expect(run.reports[0]?.fields.at).toMatch(here);
    expect(run.first).toMatchObject({ outcome: 'success', writes: [{ verb: 'create' }] });
  });

  test.each<[string, (context: Context) => unknown, string]>([
    ['client', ({ client }) => void client.create(secret('s')), 'create Secret default/s'],
    ['apply', ({ apply }) => void apply(Secret({ metadata: { name: 's' } }) as never), 'apply Secret s'],
    [
      'status',
      ({ client }) => void client.status.update(widget('none') as never),
      'update status of Widget default/none',
    ],
    ['a read', ({ client }) => void client.get(ConfigMap, inDefault('none')), 'get ConfigMap default/none'],
  ])('%s, and fails: the reconcile fails with it', async (_, reconcile, call) => {
    await using run = await runOn(reconcile);
    expect(run.reports).toMatchObject([{ fields: { call } }]);
    expect(run.reports[0]?.fields.at).toMatch(here);
    expect(run.first?.outcome).toBe('error');
    expect(run.failures).toHaveLength(1);
    expect(run.failures[0]?.fields.at).toMatch(here);
  });

  test('and has failed before the reconciler returned', async () => {
    await using run = await runOn(async ({ client }) => {
      void client.create(secret('s'));
      await client.create(configMap('c'));
      await client.create(configMap('d'));
    });
    expect(run.reports).toMatchObject([{ fields: { call: 'create Secret default/s', state: 'failed' } }]);
    expect(run.first?.outcome).toBe('error');
    expect(run.failures[0]?.fields.at).toMatch(here);
  });

  test('in a function that is not awaited: reported, and awaited to its end', async () => {
    await using run = await runOn(({ client }) => {
      ['c', 'd'].forEach(async (name) => {
        await client.create(configMap(name));
        await client.create(configMap(`${name}2`));
      });
    });
    expect(run.reports).toMatchObject([{ fields: { call: 'create ConfigMap default/c' } }]);
    expect(run.reports[0]?.fields.at).toMatch(here);
    expect(run.first).toMatchObject({ outcome: 'success' });
    expect(run.first?.writes).toHaveLength(4);
  });

  test('that an async function returns, which is not awaited', async () => {
    await using run = await runOn(({ client }) => {
      ['c'].forEach(async (name) => client.create(configMap(name)));
    });
    expect(run.reports).toMatchObject([{ fields: { call: 'create ConfigMap default/c' } }]);
  });

  test('with a Promise.all that is not awaited', async () => {
    await using run = await runOn(({ client }) => {
      void Promise.all(['c', 'd'].map((name) => client.create(configMap(name))));
    });
    expect(run.reports).toHaveLength(1);
  });

  test('is reported once for its line, however often it comes', async () => {
    await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
    const widgets = control(Widget).reconcile(({ client, object: { metadata } }) => {
      void client.create(configMap(metadata.name));
      void client.create(secret(metadata.name));
    });
    await env.run(widgets);
    for (const name of ['a', 'b', 'c']) await env.client.create(widget(name));
    await env.settle();
    const reports = env.log.records.filter(({ message }) => message.includes('without awaiting'));
    expect(reports.map(({ fields }) => String(fields.call).split(' ')[1]).sort()).toEqual(['ConfigMap', 'Secret']);
    await expect(env.client.list(Secret)).resolves.toMatchObject({ items: { length: 3 } });
  });

  test('by a map function: reported with source and line, the change is not lost', async () => {
    await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
    const seen: string[] = [];
    const widgets = control(Widget)
      .reads(Secret)
      .watches(ConfigMap, (object, reader) => {
        void reader.find(Secret, inDefault('none'));
        return [inDefault(object.metadata.name)];
      })
      .evenWhenGone()
      .reconcile(({ key }) => void seen.push(key.name));
    await env.run(widgets);
    await env.client.create(configMap('c'));
    await env.settle();
    expect(seen).toContain('c');
    const reports = env.log.records.filter(({ message }) => message.includes('map function returned without'));
    expect(reports).toMatchObject([{ fields: { source: 'watches ConfigMap', call: 'find Secret default/none' } }]);
    expect(reports[0]?.fields.at).toMatch(here);
  });
});

describe('is not reported', () => {
  test.each<[string, (context: Context) => unknown]>([
    ['what is awaited', async ({ client }) => void (await client.create(configMap('c')))],
    ['what is returned', ({ client }) => client.create(configMap('c')).then(() => undefined)],
    [
      'what is awaited later, after it has failed',
      async ({ client }) => {
        const failing = client.create(secret('s'));
        await client.create(configMap('c'));
        await client.create(configMap('d'));
        await failing.catch(() => {});
      },
    ],
    ['what has a handler for its failure', ({ client }) => void client.create(secret('s')).catch(() => {})],
    [
      'what loses a race',
      async ({ client }) => void (await Promise.race([client.create(configMap('c')), Promise.resolve()])),
    ],
    [
      'what is left of a Promise.all when another one has failed',
      async ({ client }) => {
        const each = async (object: never) => void (await client.create(object));
        await Promise.all([each(secret('s') as never), each(configMap('c') as never)]).catch(() => {});
      },
    ],
  ])('%s', async (_, reconcile) => {
    await using run = await runOn(reconcile);
    expect(run.reports).toEqual([]);
    expect(run.first?.outcome).toBe('success');
  });

  test('what a reconciler leaves behind that throws', async () => {
    await using run = await runOn(({ client }) => {
      void client.create(secret('s'));
      throw new TerminalError('no');
    });
    expect(run.reports).toEqual([]);
    expect(run.first).toMatchObject({ outcome: 'terminal_error', error: 'TerminalError: no' });
  });
});

test('promises of calls are those that they would be', async () => {
  await using run = await runOn(async ({ client }) => {
    const promise = client.create(configMap('c'));
    expect(promise).toBeInstanceOf(Promise);
    expect(promise.constructor).toBe(Promise);
    expect(Promise.resolve(promise)).toBe(promise);
    const order: string[] = [];
    await Promise.all([promise.then(() => order.push('one')), promise.then(() => order.push('two'))]);
    expect(order).toEqual(['one', 'two']);
  });
  expect(run.first?.outcome).toBe('success');
});

describe('by a shared handler', () => {
  const register: [string, (factory: SharedControllerFactory, signal: AbortSignal) => void][] = [
    [
      'a handler',
      (factory, signal) =>
        void factory.forKind(ConfigMap).registerHandler(
          'forgets',
          (_, object, { client }) => {
            if (object?.metadata.name === 'cart') void client.delete(inDefault('none'));
          },
          { signal },
        ),
    ],
    [
      'the client of all kinds',
      (factory, signal) =>
        void factory.forKind(ConfigMap).registerHandler(
          'forgets',
          (_, object, { client }) => {
            if (object?.metadata.name === 'cart') void client.client.delete(ConfigMap, inDefault('none'));
          },
          { signal },
        ),
    ],
    [
      'a status handler',
      (factory, signal) =>
        void registerStatusHandler(
          new TypedController(factory, ConfigMap),
          { name: 'forgets', signal },
          (object, _, { client }) => {
            if (object.metadata.name === 'cart') void client.delete(inDefault('none'));
          },
        ),
    ],
  ];

  test.each(register)('%s: reported, and its failure is the handler’s', async (_, add) => {
    await using env = await TestEnvironment.start({ server: 'in-process' });
    const manager = await env.runHandlers((factory, { signal }) => add(factory, signal));
    await env.client.create(configMap('cart'));
    await env.eventually(() => manager.explain.some(({ outcome }) => outcome === 'error'));
    const reports = env.log.records.filter(({ message }) => message === 'the handler returned without awaiting a call');
    expect(reports).toMatchObject([
      { fields: { key: 'default/cart', handler: 'forgets', call: 'delete ConfigMap default/none' } },
    ]);
    expect(reports[0]?.fields.at).toMatch(here);
    const failure = env.log.records.find(({ message }) => message.includes('reconcile failed'));
    expect(failure?.fields.at).toMatch(here);
  });

  test.each<[string, (factory: SharedControllerFactory) => () => unknown]>([
    ['the client of a controller', (factory) => () => factory.forKind(Secret).client.delete(inDefault('none'))],
    [
      'a typed controller',
      (factory) => {
        const secrets = new TypedController(factory, Secret);
        return () => secrets.delete(inDefault('none'));
      },
    ],
  ])('through %s, which it was not given: logged with its line', async (_, callOf) => {
    await using env = await TestEnvironment.start({ server: 'in-process' });
    await env.runHandlers((factory, { signal }) => {
      const call = callOf(factory);
      const forget = (key: string) => void (key === 'default/cart' && call());
      factory.forKind(ConfigMap).registerHandler('forgets', forget, { signal });
    });
    await env.client.create(configMap('cart'));
    await env.settle();
    const records = env.log.records.filter(({ message }) => message === unowned);
    expect(records).toMatchObject([{ level: 'error', fields: { call: 'delete Secret default/none' } }]);
    expect(records[0]?.fields.at).toMatch(here);
  });
});

describe('through a client of the manager, which no reconciler was given', () => {
  /** The manager's client is made before the reconciler runs, as in `manager.add(reconcilerWith(manager.client))`. */
  async function runWith(reconcile: (manager: Manager) => unknown) {
    const env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
    env.faults.add({ verb: 'create', kind: Secret }, { fail: { code: 403 } });
    let given: Manager | undefined;
    const widgets = control(Widget, { name: 'widgets' }).reconcile(async () => {
      await reconcile(given as Manager);
    });
    const { manager } = await env.run(widgets);
    given = manager;
    await env.client.create(widget('a'));
    await env.settle();
    return {
      manager,
      get records() {
        return env.log.records.filter(({ message }) => message === unowned);
      },
      [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
    };
  }

  test.each<[string, (manager: Manager) => unknown]>([
    ['client', ({ client }) => void client.create(secret('s'))],
    ['connection', ({ connection }) => void connection.create(secret('s'))],
    ['leaderClient', ({ leaderClient }) => void leaderClient.create(secret('s'))],
  ])('%s: its failure is logged with the line and the running reconcile', async (_, reconcile) => {
    await using run = await runWith(reconcile);
    expect(run.records).toMatchObject([
      { level: 'error', fields: { call: 'create Secret default/s', during: ['widgets default/a'] } },
    ]);
    expect(run.records[0]?.fields.at).toMatch(here);
    expect(run.manager.explain).toMatchObject([{ outcome: 'success' }]);
  });

  test('apiReader and cached reads', async () => {
    await using run = await runWith(({ apiReader, client }) => {
      void apiReader.get(ConfigMap, inDefault('none'));
      void client.get(Widget, inDefault('none'));
    });
    const calls = run.records.map(({ fields }) => fields.call);
    expect(calls.sort()).toEqual(['get ConfigMap default/none', 'get Widget default/none']);
  });

  test('a failure in a function that is not awaited does not end the process', async () => {
    using others = withoutOtherListeners();
    await using run = await runWith(({ client }) => {
      ['s', 't'].forEach(async (name) => {
        await client.create(secret(name));
      });
    });
    await expect.poll(() => run.records.map(({ fields }) => fields.call)).toHaveLength(2);
    for (const { fields } of run.records) expect(fields.at).toMatch(here);
    expect(others.rejections).toEqual([]);
  });

  test('a failure that is handled is not logged', async () => {
    await using run = await runWith(async ({ client }) => {
      await client.create(secret('s')).catch(() => {});
      await Promise.allSettled([client.create(secret('t'))]);
    });
    expect(run.records).toEqual([]);
  });

  test('a client of an added cluster', async () => {
    await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
    const { manager } = await env.run(control(Widget).reconcile(() => {}));
    const { client } = manager.clusters.add('north', env.config);
    void client.delete(ConfigMap, inDefault('none'));
    await env.settle();
    const records = env.log.records.filter(({ message }) => message === unowned);
    expect(records).toMatchObject([{ fields: { call: 'delete ConfigMap default/none' } }]);
    expect(records[0]?.fields.at).toMatch(here);
  });
});

/** Leaves rejections to the manager's listener alone: vitest's own fails the run for each. Collects what is left. */
function withoutOtherListeners(): { readonly rejections: readonly unknown[] } & Disposable {
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  const rejections: unknown[] = [];
  const collect = (error: unknown) => void rejections.push(error);
  process.on('uncaughtException', collect);
  return {
    rejections,
    [Symbol.dispose]: () => {
      process.off('uncaughtException', collect);
      for (const listener of others) process.on('unhandledRejection', listener);
    },
  };
}
