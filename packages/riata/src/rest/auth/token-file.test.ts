import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { TokenFile } from './token-file.js';

const place = { source: 'kubeconfig /x', field: 'users[dev].user.tokenFile' };
let dir: string;
let file: string;
let clock: VirtualClock;
const log = memoryLogger();

beforeEach(async () => {
  log.clear();
  dir = await mkdtemp(join(tmpdir(), 'riata-token-'));
  file = join(dir, 'token');
  clock = new VirtualClock();
});
afterEach(() => rm(dir, { recursive: true }));

test('the token is read again after a minute, not before', async () => {
  await writeFile(file, 'one\n');
  const source = new TokenFile({ file, place, clock, log });
  expect(await source.authorization()).toBe('Bearer one');
  await writeFile(file, 'two');
  await clock.advance(59_999);
  expect(await source.authorization()).toBe('Bearer one');
  await clock.advance(1);
  expect(await source.authorization()).toBe('Bearer two');
});

test.each([
  ['empty', () => writeFile(file, ' \n')],
  ['missing', () => rm(file)],
  ['not a token', () => writeFile(file, 'two words')],
])('a file that is %s for a while leaves the last good token in force', async (_, corrupt) => {
  await writeFile(file, 'one');
  const source = new TokenFile({ file, place, clock, log });
  await source.authorization();
  await corrupt();
  await clock.advance(60_000);
  expect(await source.authorization()).toBe('Bearer one');
  await clock.advance(1_000);
  expect(await source.authorization()).toBe('Bearer one');
  await writeFile(file, 'two');
  expect(await source.authorization()).toBe('Bearer one');
  await clock.advance(1_000);
  expect(await source.authorization()).toBe('Bearer two');
  expect(log.records).toEqual([
    {
      level: 'warn',
      message: 'a new token cannot be used; the one before stays in force',
      fields: { problem: expect.stringContaining('kubeconfig /x: users[dev].user.tokenFile: ') },
    },
    { level: 'info', message: 'the token in its file is in force again', fields: {} },
  ]);
  expect(JSON.stringify(log.records)).not.toContain('two words');
});

test('without any good token the error names field, file and reason', async () => {
  const source = new TokenFile({ file, place, clock, log });
  await expect(source.authorization()).rejects.toThrow(
    `kubeconfig /x: users[dev].user.tokenFile: file ${file} cannot be read: no such file`,
  );
  await writeFile(file, '');
  await expect(source.authorization()).rejects.toThrow(`file ${file} is empty`);
  await writeFile(file, 'one');
  expect(await source.authorization()).toBe('Bearer one');
});

test('a token beside the file is used until the file can be read', async () => {
  const source = new TokenFile({ file, place, clock, log, fallback: 'spare' });
  expect(await source.authorization()).toBe('Bearer spare');
  await writeFile(file, 'one');
  await clock.advance(1_000);
  expect(await source.authorization()).toBe('Bearer one');
});

test('a refresh reads at once and returns whether the token has changed', async () => {
  await writeFile(file, 'one');
  const source = new TokenFile({ file, place, clock, log });
  await source.authorization();
  expect(await source.refresh({ rejected: 'Bearer one' })).toBe(false);
  await writeFile(file, 'two');
  expect(await source.refresh({ rejected: 'Bearer one' })).toBe(true);
  expect(await source.authorization()).toBe('Bearer two');
  // Another request met the 401 for the old token later: the new one has not been tried yet.
  expect(await source.refresh({ rejected: 'Bearer one' })).toBe(true);
  expect(await source.refresh()).toBe(false);
});
