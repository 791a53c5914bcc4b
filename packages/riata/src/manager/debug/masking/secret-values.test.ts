import { expect, test } from 'vitest';
import { type Cache, cachedObjects } from '../../../cache/cache.js';
import { onGet } from '../../../client/create-client.js';
import type { GetListener, WriteListener } from '../../../client/operation/write-hook.js';
import { ConfigMap, Secret } from '../../../kinds/generated/groups/core/v1.js';
import { VirtualClock } from '../../../runtime/time/virtual-clock.js';
import { SecretValues } from './secret-values.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (name: string, value: string, resourceVersion = '1') => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'n', uid: name, resourceVersion } },
  data: { value: base64(value) },
});

function setUp() {
  const clock = new VirtualClock();
  const values = new SecretValues(clock);
  const cached: unknown[] = [];
  let [get, write]: [GetListener, WriteListener] = [() => {}, () => {}];
  const client = {
    [onGet]: (listener: GetListener) => {
      get = listener;
    },
    onWrite: (listener: WriteListener) => {
      write = listener;
      return { [Symbol.dispose]: () => {} };
    },
  };
  values.follow(client, () => ({ [cachedObjects]: () => cached }) as unknown as Cache);
  return {
    values,
    clock,
    cached,
    read: (...args: Parameters<GetListener>) => get(...args),
    write: (given: unknown) => write(given as never),
  };
}

test('masks the beginning of a value where a text was cut', () => {
  const { values, read } = setUp();
  read(Secret, secret('a', 'xyzzy-plugh-plover'));
  expect(values.mask('data: xyzzy-plugh-p…')).toBe('data: ••••••…');
  expect(values.mask('data: other…')).toBe('data: other…');
});

test('masks values of Secrets that were read, written or are cached, in every form', async () => {
  const { values, clock, cached, read, write } = setUp();
  expect(values.mask('login as xyzzy-1 failed')).toBe('login as xyzzy-1 failed');
  read(Secret, secret('a', 'xyzzy-1'));
  write({ operation: { verb: 'update', kind: Secret }, answer: secret('b', 'plugh 2') });
  cached.push(secret('c', 'quux"3'));
  const text = `xyzzy-1 ${base64('xyzzy-1')} plugh 2 plugh%202 ${JSON.stringify({ is: 'quux"3' })}`;
  expect(values.mask(text)).toBe('•••••• •••••• •••••• •••••• {"is":"••••••"}');
  cached.push(secret('d', 'plover4'));
  await clock.advance(1_000);
  expect(values.mask('plover4')).toBe('••••••');
});

test('remembers replaced versions, and leaves short values and other kinds alone', () => {
  const { values, read } = setUp();
  read(Secret, secret('a', 'xyzzy-1', '1'));
  read(Secret, secret('a', 'xyzzy-2', '2'));
  read(Secret, secret('b', 'true'));
  read(ConfigMap, { ...secret('c', 'hello world'), kind: 'ConfigMap' });
  expect(values.mask('xyzzy-1 xyzzy-2 true hello world')).toBe('•••••• •••••• true hello world');
});

test('masks one line of a longer value, and values that were sent without an answer', () => {
  const { values, read, write } = setUp();
  read(Secret, secret('key', 'first line of the text\nsecond line of the text\n'));
  write({
    operation: { verb: 'create', kind: Secret, body: { stringData: { a: 'swordfish' } } },
    error: new Error('lost'),
  });
  write({
    operation: { verb: 'patch', kind: Secret, body: [{ op: 'add', path: '/data/a', value: base64('open sesame') }] },
    error: 1,
  });
  expect(values.mask('at "second line of the text": swordfish, open sesame')).toBe('at "••••••": ••••••, ••••••');
});

test('forgets the oldest of more than 250 versions', () => {
  const { values, read } = setUp();
  for (let at = 0; at <= 250; at += 1) read(Secret, secret('a', `value-number-${at};`, `${at}`));
  expect(values.mask('value-number-0; value-number-1; value-number-250;')).toBe('value-number-0; •••••• ••••••');
});
