import { describe, expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { RestClient } from '../rest-client.js';
import { answeringTransport } from '../transport/answering-transport.fixture.js';
import { collectedWarnings, dedupedWarnings, noWarnings, parseWarnings, warningLogger } from './warnings.js';

const warning = (text: string, code = 299) => ({ code, agent: '-', text });

describe('parseWarnings', () => {
  test.each<[string, string | readonly string[] | undefined, readonly string[]]>([
    ['none', undefined, []],
    ['an empty header', '', []],
    ['one', '299 - "text"', ['text']],
    ['escapes', String.raw`299 - "text\"\\\a\b\c"`, [String.raw`text"\abc`]],
    ['blanks around', '  299 - "text"  ', ['text']],
    ['a date', '299 - "text"  "Tue, 15 Nov 1994 08:12:31 GMT" ', ['text']],
    ['several in one header', '299 - "a", 299 - "b, c" "date", 299 k8s "d"', ['a', 'b, c', 'd']],
    ['several headers', ['299 - "a"', '299 - "b"'], ['a', 'b']],
    ['a comma at the end', '299 - "a" , ', ['a']],
    ['a broken one after a good one', '299 - "a", nonsense', ['a']],
    ['a broken header beside a good one', ['x', '299 - "b"'], ['b']],
    ['a short code', '1 - "text"', []],
    ['no code', 'A - "text"', []],
    ['no text', '299 -', []],
    ['an open quote', '299 - "text', []],
    ['an open date', '299 - "text" "Tue', []],
    ['something after it', '299 - "text" other', []],
    ['a control character', '299 - "a\u001b[31m"', []],
    ['a control character in the agent', '299 a\u0000b "a"', []],
    ['other letters', '299 - "größer 🐎"', ['größer 🐎']],
  ])('%s', (_, header, texts) => {
    expect(parseWarnings({ warning: header }).map(({ text }) => text)).toEqual(texts);
  });

  test('keeps code and agent', () => {
    expect(parseWarnings({ warning: '214 proxy.example "changed"' })).toEqual([
      { code: 214, agent: 'proxy.example', text: 'changed' },
    ]);
  });

  test('takes hostile headers in no time', () => {
    expect(parseWarnings({ warning: `299 - "${'\\'.repeat(100_001)}` })).toEqual([]);
    expect(parseWarnings({ warning: `299 - "a"${' '.repeat(100_000)}x` })).toEqual([]);
  });
});

describe('handlers', () => {
  test('the logger writes 299 only', () => {
    const log = memoryLogger();
    for (const given of [warning('old'), warning('other', 199), warning('')]) warningLogger(log)(given);
    expect(log.records).toMatchObject([{ level: 'warn', fields: { warning: 'old' } }]);
  });

  test('dedupedWarnings lets each text through once and remembers so many', () => {
    const seen = collectedWarnings();
    const handler = dedupedWarnings(seen, { remember: 2 });
    for (const text of ['a', 'a', 'b', 'a', 'c', 'b', 'a']) handler(warning(text));
    expect(seen.warnings.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'b', 'a']);
  });

  test('noWarnings says nothing', () => {
    expect(noWarnings(warning('x'))).toBeUndefined();
  });
});

describe('a client', () => {
  const log = memoryLogger();
  const setUp = (status = 200) => {
    log.clear();
    const transport = answeringTransport([{ status, headers: { warning: '299 - "old"' } }]);
    return RestClient.for({ server: 'https://host' }, { transport, runtime: { log, clock: new VirtualClock() } });
  };

  test('logs warnings by default, per request too', async () => {
    const rest = setUp();
    await rest.get().absPath('/x').do();
    expect(log.messages('warn')).toHaveLength(1);
    const own = collectedWarnings();
    await rest.get().absPath('/x').warningHandler(own).do();
    expect(own.warnings).toEqual([warning('old')]);
    expect(log.messages('warn')).toHaveLength(1);
    await rest.get().absPath('/x').warningHandler(own).warningHandler(undefined).stream();
    expect(log.messages('warn')).toHaveLength(2);
  });

  test('hears them with refusals too', async () => {
    await expect(setUp(403).get().absPath('/x').do()).rejects.toMatchObject({ code: 403 });
    expect(log.messages('warn')).toHaveLength(1);
  });

  test('survives a handler that throws', async () => {
    const request = setUp()
      .get()
      .absPath('/x')
      .warningHandler(() => {
        throw new Error('mine');
      });
    expect((await request.do()).statusCode).toBe(200);
    expect(log.messages('error')).toEqual(['warning handler failed']);
  });
});
