import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { VirtualClock } from '../time/virtual-clock.js';
import { consoleLogger } from './console-logger.js';
import { createLogger, type LogFields, type LogLevel, logLevels, silentLogger } from './logger.js';
import { memoryLogger } from './memory-logger.js';
import { pinoLogger } from './pino-logger.js';

function consoleLines(level?: LogLevel) {
  const lines: string[] = [];
  const log = consoleLogger({ level, clock: new VirtualClock(), write: (line) => lines.push(line) });
  return { log, lines };
}

/** What follows the message in the line of these fields. */
function rendered(fields: Record<string, unknown>): string | undefined {
  const { log, lines } = consoleLines();
  log.info('m', fields);
  expect(lines).toHaveLength(1);
  return lines[0]?.slice('2026-01-01T00:00:00.000Z INFO  m '.length);
}

describe('consoleLogger', () => {
  test('writes time, level, message and fields on one line', () => {
    const { log, lines } = consoleLines('trace');
    log.info('cache synced', { kind: 'Pod', objects: 5000, took: '1.2 s' });
    log.trace('t');
    log.error('e', {});
    expect(lines).toEqual([
      '2026-01-01T00:00:00.000Z INFO  cache synced kind=Pod objects=5000 took="1.2 s"',
      '2026-01-01T00:00:00.000Z TRACE t',
      '2026-01-01T00:00:00.000Z ERROR e',
    ]);
  });

  test.each([
    [{ key: 'shop/cart', empty: '', quoted: 'say "hi"' }, 'key=shop/cart empty="" quoted="say \\"hi\\""'],
    [{ a: null, b: undefined, c: true, d: 1.5, e: Number.NaN }, 'a=null c=true d=1.5 e="NaN"'],
    [{ o: { a: [1, { b: 'x' }] } }, 'o={"a":[1,{"b":"x"}]}'],
    [{ n: 2n ** 64n, o: { n: 1n } }, 'n="18446744073709551616" o={"n":"1"}'],
    [{ d: new Date(0), m: new Map([['k', 1]]), s: new Set([1]) }, 'd=1970-01-01T00:00:00.000Z m={"k":1} s=[1]'],
    [{ b: new Uint8Array(3), f: Math.max, y: Symbol('s') }, 'b="[3 bytes]" f="[function max]" y="Symbol(s)"'],
    [{ 'a b\n': 1 }, 'a b\\n=1'],
    [{ o: JSON.parse('{"__proto__": 1}') }, 'o={"__proto__":1}'],
  ])('renders fields: case %#', (fields, text) => {
    expect(rendered(fields)).toBe(text);
  });

  test('shows errors with their causes, at any depth', () => {
    const error = new TypeError('cannot list', { cause: new Error('socket closed') });
    expect(rendered({ error })).toBe('error="TypeError: cannot list (caused by Error: socket closed)"');
    expect(rendered({ o: { error } })).toBe('o={"error":"TypeError: cannot list (caused by Error: socket closed)"}');
  });

  test('survives circles, getters that throw and hostile objects', () => {
    const circle: Record<string, unknown> = { name: 'c' };
    circle.self = circle;
    expect(rendered({ circle })).toBe('circle={"name":"c","self":"[circular]"}');
    const throwing = {
      get x() {
        throw new Error('no');
      },
    };
    expect(rendered({ throwing })).toBe('throwing={"x":"[unreadable: Error: no]"}');
    expect(rendered(throwing)).toBe('x="Error: no"');
    const proxy = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('hidden');
        },
      },
    );
    expect(rendered({ proxy })).toBe('proxy="[unreadable: Error: hidden]"');
    const json = {
      toJSON() {
        throw new Error('bad');
      },
    };
    expect(rendered({ json })).toBe('json="[unreadable: Error: bad]"');
    const shared = { a: 1 };
    expect(rendered({ both: [shared, shared] })).toBe('both=[{"a":1},{"a":1}]');
  });

  test('keeps a line one line: line ends and terminal commands become escapes', () => {
    const { log, lines } = consoleLines();
    log.info('a\nb\u001b[31m', { text: 'x\ny\u001b\u2028' });
    expect(lines[0]?.slice(31)).toBe('a\\nb\\u001b[31m text="x\\ny\\u001b\\u2028"');
  });

  test('cuts what is very long or very deep', () => {
    expect(rendered({ big: 'x'.repeat(10_000) })).toBe(`big=${'x'.repeat(4096)}…(5904 more)`);
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100; level += 1) deep = [deep];
    expect(rendered({ deep })).toBe(`deep=${'['.repeat(8)}"[…]"${']'.repeat(8)}`);
  });

  test('drops what is below its level, by default below info', () => {
    const { log, lines } = consoleLines();
    log.debug('no');
    log.warn('yes');
    expect(lines).toHaveLength(1);
    expect(logLevels.map((level) => log.enabled(level))).toEqual([false, false, true, true, true]);
  });

  test('refuses an unknown level', () => {
    expect(() => consoleLogger({ level: 'loud' as LogLevel })).toThrow(
      'level must be one of trace, debug, info, warn, error, got loud',
    );
  });

  test('writes to standard error', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    consoleLogger({ clock: new VirtualClock() }).info('hello');
    const calls = write.mock.calls.map(([text]) => text);
    write.mockRestore();
    expect(calls).toEqual(['2026-01-01T00:00:00.000Z INFO  hello\n']);
  });

  test('children add their fields; those of the message win', () => {
    const { log, lines } = consoleLines();
    const child = log.child({ controller: 'foo', key: 'a' }).child({ attempt: 1 });
    child.info('m', { key: 'b' });
    child.info('m');
    log.info('m');
    expect(lines.map((line) => line.slice(31))).toEqual([
      'm controller=foo key=b attempt=1',
      'm controller=foo key=a attempt=1',
      'm',
    ]);
  });
});

test('memoryLogger keeps records, those of its children too', () => {
  const log = memoryLogger('debug');
  log.trace('below');
  log.debug('one', { a: 1 });
  log.child({ b: 2 }).warn('two', { a: 3 });
  expect(log.records).toEqual([
    { level: 'debug', message: 'one', fields: { a: 1 } },
    { level: 'warn', message: 'two', fields: { a: 3, b: 2 } },
  ]);
  expect([log.messages(), log.messages('warn')]).toEqual([['one', 'two'], ['two']]);
  log.clear();
  expect(log.records).toEqual([]);
});

test('silentLogger is silent in all its children', () => {
  const child = silentLogger.child({ a: 1 });
  for (const level of logLevels) {
    expect(child[level]('m', { error: new Error('x') })).toBeUndefined();
    expect(child.enabled(level)).toBe(false);
  }
});

test('createLogger hands over merged fields', () => {
  const sink = vi.fn();
  createLogger(sink, 'info').child({ a: 1 }).info('m', { b: 2 });
  expect(sink).toHaveBeenCalledWith('info', 'm', { a: 1, b: 2 });
});

describe('pinoLogger', () => {
  function pinoLines(level: string) {
    const lines: Record<string, unknown>[] = [];
    const stream = new Writable({
      write(chunk, _, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    return { log: pinoLogger(pino({ level, base: null, timestamp: false }, stream)), lines };
  }

  test('hands level, message, fields and children to pino', () => {
    const { log, lines } = pinoLines('debug');
    log.trace('below');
    log.debug('one', { a: 1 });
    log.child({ controller: 'foo' }).error('two');
    expect(lines).toEqual([
      { level: 20, msg: 'one', a: 1 },
      { level: 50, msg: 'two', controller: 'foo' },
    ]);
    expect(logLevels.map((level) => log.enabled(level))).toEqual([false, true, true, true, true]);
  });

  test('renders errors under any name with their causes, circles and BigInts without a crash', () => {
    const { log, lines } = pinoLines('info');
    const error = new TypeError('outer', { cause: new Error('inner') });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    log.warn('m', { error, circle, big: 1n });
    log.child({ error }).info('m', {
      get x() {
        throw new Error('no');
      },
    });
    const shown = { type: 'TypeError', message: 'TypeError: outer (caused by Error: inner)', stack: error.stack };
    expect(lines[0]).toMatchObject({ msg: 'm', error: shown, circle: { self: '[Circular]' } });
    expect(lines[1]).toMatchObject({ error: shown, x: '[unreadable: Error: no]' });
  });
});

test('a logger never throws: neither for its sink nor for fields that are none', () => {
  let calls = 0;
  const broken = createLogger(() => {
    calls += 1;
    throw new Error('no space left');
  }, 'info');
  broken.info('a');
  broken.child({ b: 1 }).error('c', { d: 2 });
  expect(calls).toBe(2);
  const lines: string[] = [];
  const log = consoleLogger({ clock: new VirtualClock(), write: (line) => lines.push(line) });
  log.info('none', null as never);
  log.child({ a: 1 }).info('none', null as never);
  expect(lines.map((line) => line.slice(25))).toEqual(['INFO  none', 'INFO  none a=1']);
});

test('pino gets hostile keys as data', () => {
  const fields = JSON.parse('{"__proto__":{"a":1},"b":2}') as LogFields;
  const written: string[] = [];
  pinoLogger(pino({ base: null, timestamp: false }, { write: (line: string) => written.push(line) })).info('x', fields);
  expect(JSON.parse(written[0] ?? '')).toEqual(JSON.parse('{"level":30,"__proto__":{"a":1},"b":2,"msg":"x"}'));
});
