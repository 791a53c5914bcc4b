import { Manager } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { type Span, silentLogger, type Tracer } from 'riata/runtime';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

/** Keeps each span as text, and those of what it was part of. */
function memoryTracer() {
  const paths = new Map<Span, string>();
  const lines: string[] = [];
  const tracer: Tracer = {
    enabled: true,
    span: (name, attributes = {}, parent) => {
      const words = name === 'reconcile' ? [name, attributes.key] : [attributes.verb, attributes.route];
      const path = [parent && paths.get(parent), words.join(' ')].filter(Boolean).join(' > ');
      const span: Span = { set() {}, error() {}, end: () => void lines.push(path) };
      paths.set(span, path);
      return span;
    },
  };
  return { tracer, lines };
}

test('what a reconcile asks of the server is part of its span', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const { tracer, lines } = memoryTracer();
  const widgets = control(Widget)
    .owns(ConfigMap)
    .reconcile(async ({ apply, status, client, clock, span }) => {
      await apply(ConfigMap({ metadata: { name: 'a' } }));
      await client.find(Secret, inDefault('s'));
      await status({ size: 1 });
      tracer.span('reconcile', { key: `own work at ${clock.now() > 0}` }, span).end();
    });
  const { config } = env.connect({ name: 'traced' });
  await using manager = new Manager({
    config,
    loopMonitor: false,
    runtime: { clock: env.clock, log: silentLogger, tracer },
  });
  manager.add(widgets);
  const stop = new AbortController();
  const ended = manager.run({ signal: stop.signal });
  await env.client.create(widget('a'));
  await env.eventually(() => manager.explain.length > 0);
  expect(lines.filter((line) => line.startsWith('reconcile default/a')).slice(0, 5)).toEqual([
    expect.stringMatching(/^reconcile default\/a > PATCH .*configmaps\/\{name\}$/i),
    expect.stringMatching(/^reconcile default\/a > GET .*secrets\/\{name\}$/i),
    expect.stringMatching(/^reconcile default\/a > PATCH .*widgets\/\{name\}\/status$/i),
    'reconcile default/a > reconcile own work at true',
    'reconcile default/a',
  ]);
  stop.abort();
  await env.eventually(() => ended);
});
