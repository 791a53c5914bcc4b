import { TerminalError } from 'riata';
import { control } from 'riata/controller';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { Widget, widget } from './widget.fixture.js';

const never = () => false;

test('a missing state is reported with the failing reconciles', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const widgets = control(Widget, { concurrency: 2, backoff: () => '10s' }).reconcile(({ object }) => {
    if (object.metadata.name.startsWith('a')) throw new Error('no luck');
    if (object.metadata.name === 'b') throw new TerminalError('never any');
  });
  await env.run(widgets);
  await env.client.create(widget('c'));
  await expect(env.eventually(never)).rejects.toThrow(/^eventually: not within 1m: it gave false$/);
  await env.client.create(widget('a'));
  await env.client.create(widget('b'));
  const started = env.eventually(never, { within: '15s', what: 'luck' });
  await expect(started).rejects.toThrow(
    'eventually luck: not within 15s: it gave false\nThese reconciles or managers fail:\n' +
      '  widget default/a, attempt 2: Error: no luck\n  widget default/b, attempt 1: TerminalError: never any',
  );
  for (const name of ['a2', 'a3', 'a4']) await env.client.create(widget(name));
  await expect(env.eventually(never)).rejects.toThrow(/\n {2}and 2 more$/);
});

test('and with managers that have ended so', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const bad = {
    name: 'bad',
    run: async () => {
      throw new Error('out of order');
    },
  };
  await env.startManager({ name: 'first', run: [bad] });
  const failed = env.eventually(() => {
    throw new Error('not there yet');
  });
  await expect(failed).rejects.toThrow(
    'eventually: not within 1m: Error: not there yet\nThese reconciles or managers fail:\n' +
      '  first has failed: bad: Error: out of order',
  );
});
