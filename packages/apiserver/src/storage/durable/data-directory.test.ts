import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from 'riata/object';
import { memoryLogger, systemClock } from 'riata/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DataDirectory } from './data-directory.js';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'riata-data-'));
});

afterEach(() => rm(root, { recursive: true, force: true }));

function open(path = join(root, 'data'), acceptDataLoss = false): Promise<DataDirectory> {
  return DataDirectory.open(path, { clock: systemClock, log: memoryLogger(), acceptDataLoss });
}

function object(name: string, data: unknown = {}): (revision: number) => KubeObject {
  return (revision) =>
    ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name, namespace: 'shop', uid: name, resourceVersion: String(revision) },
      data,
    }) as unknown as KubeObject;
}

/** A directory as a crash leaves it: writes are durable, but nothing was closed. */
async function crashed(path: string, count = 20): Promise<void> {
  const directory = await open(join(root, 'alive'));
  const { storage } = directory;
  for (let n = 0; n < count; n++) {
    storage.put('/configmaps', `shop/c${n}`, object(`c${n}`, { text: 'x'.repeat(500) }));
    await storage.durable(storage.revision);
  }
  await cp(join(root, 'alive'), path, { recursive: true });
  await directory.close();
}

test('objects survive a restart with their revisions', async () => {
  {
    await using directory = await open();
    const { storage } = directory;
    storage.put('/configmaps', 'shop/a', object('a', { big: 2n ** 60n, text: '\ud83d\ude00 \0 ü' }));
    storage.put('/configmaps', 'shop/b', object('b'));
    storage.put('/configmaps', 'shop/b', object('b', { second: true }));
    storage.remove('/configmaps', 'shop/a', object('a'));
    storage.put('/configmaps', 'shop/a', object('a', { big: 2n ** 60n, text: '\ud83d\ude00 ü' }));
    await storage.durable(5);
  }
  await using again = await open();
  const { storage } = again;
  expect(storage.revision).toBe(5);
  expect(storage.list('/configmaps').items.map(({ key, revision }) => [key, revision])).toEqual([
    ['shop/a', 5],
    ['shop/b', 3],
  ]);
  expect(storage.get('/configmaps', 'shop/a')?.object).toEqual(
    object('a', { big: 2n ** 60n, text: '\ud83d\ude00 ü' })(5),
  );
  expect(Object.isFrozen(storage.get('/configmaps', 'shop/b')?.object)).toBe(true);
  expect(storage.put('/configmaps', 'shop/c', object('c')).revision).toBe(6);
});

test('a paginated list continues after a restart, a watch must start anew', async () => {
  {
    await using directory = await open();
    for (const name of ['a', 'b', 'a']) directory.storage.put('/configmaps', `shop/${name}`, object(name));
    directory.storage.remove('/configmaps', 'shop/b', object('b'));
  }
  await using again = await open();
  const { storage } = again;
  const at = (revision: number) =>
    storage.list('/configmaps', { revision }).items.map((item) => [item.key, item.revision]);
  expect(at(1)).toEqual([['shop/a', 1]]);
  expect(at(2)).toEqual([
    ['shop/a', 1],
    ['shop/b', 2],
  ]);
  expect(at(4)).toEqual([['shop/a', 3]]);
  expect(() => storage.watch('/configmaps', 3, () => {})).toThrow('revision 3 is compacted; the oldest is 4');
  storage.watch('/configmaps', 4, () => {});
});

test('compaction deletes replaced versions and survives a restart', async () => {
  {
    await using directory = await open();
    const { storage } = directory;
    for (let n = 0; n < 50; n++) storage.put('/configmaps', 'shop/a', object('a', { n }));
    storage.put('/configmaps', 'shop/b', object('b'));
    storage.remove('/configmaps', 'shop/b', object('b'));
    await storage.durable(52);
    storage.compact(51);
  }
  await using again = await open();
  expect(again.storage.compacted).toBe(51);
  expect(again.storage.revision).toBe(52);
  expect(() => again.storage.list('/configmaps', { revision: 50 })).toThrow('compacted');
  expect(again.storage.list('/configmaps', { revision: 51 }).items.map(({ key }) => key)).toEqual(['shop/a', 'shop/b']);
  again.storage.compact(52);
  await again.close();
  await using third = await open();
  expect(third.storage.revision).toBe(52);
  expect(third.storage.list('/configmaps').items.map(({ revision }) => revision)).toEqual([50]);
});

test('watches deliver durable writes only, in order', async () => {
  await using directory = await open();
  const { storage } = directory;
  const reported: number[] = [];
  storage.watch('/configmaps', 0, ({ revision }) => {
    expect(storage.durable(revision)).toBeUndefined();
    reported.push(revision);
  });
  storage.put('/configmaps', 'shop/a', object('a'));
  storage.put('/secrets', 'shop/a', object('a'));
  storage.put('/configmaps', 'shop/b', object('b'));
  expect(reported).toEqual([]);
  expect(storage.durableRevision).toBe(0);
  const late: number[] = [];
  storage.watch('/configmaps', 1, ({ revision }) => late.push(revision));
  await storage.durable(3);
  expect([reported, late]).toEqual([[1, 3], [3]]);
  expect(storage.durableRevision).toBe(3);
  const past: number[] = [];
  storage.watch('/configmaps', 0, ({ revision }) => past.push(revision));
  expect(past).toEqual([1, 3]);
});

test('refuses a second process and a second server', async () => {
  await using directory = await open();
  await expect(open(directory.path)).rejects.toThrow(
    `data directory ${directory.path}: in use by another process; stop it, or use another directory`,
  );
  directory.storage.put('/configmaps', 'shop/a', object('a'));
  await directory.storage.durable(1);
});

test('refuses a directory with foreign files', async () => {
  await writeFile(join(root, 'letter.txt'), 'hello');
  await expect(open(root)).rejects.toThrow(`data directory ${root}: not empty, and not made by riata-apiserver`);
  expect(await readdir(root)).toEqual(['letter.txt']);
});

test('refuses a directory of a newer format', async () => {
  await (await open()).close();
  await writeFile(join(root, 'data', 'format'), 'riata-apiserver data 2\n');
  await expect(open()).rejects.toThrow('format: unknown format "riata-apiserver data 2\\n"');
});

test('only the owner can read the directory', async () => {
  await (await open()).close();
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  expect(await mode(join(root, 'data'))).toBe('700');
  expect(await mode(join(root, 'data', 'acknowledged'))).toBe('600');
});

describe('damage', () => {
  /** Every non-empty file below a directory. */
  async function filesOf(path: string): Promise<string[]> {
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
    return files.filter((_, index) => sizes[index]! > 0).sort();
  }

  async function flip(file: string, from: number, count: number): Promise<void> {
    const bytes = await readFile(file);
    for (let at = Math.max(0, from); at < Math.min(bytes.length, from + count); at++) bytes[at]! ^= 0xff;
    await writeFile(file, bytes);
  }

  const damages: Readonly<Record<string, (file: string, size: number) => Promise<void>>> = {
    'its last byte cut': (file, size) => truncate(file, size - 1),
    'its last 100 bytes cut': (file, size) => truncate(file, Math.max(0, size - 100)),
    'half of it cut': (file, size) => truncate(file, size >> 1),
    'all of it cut': (file) => truncate(file, 0),
    'its last byte flipped': (file, size) => flip(file, size - 1, 1),
    'its last 100 bytes flipped': (file, size) => flip(file, size - 100, 100),
    'a byte in the middle flipped': (file, size) => flip(file, size >> 1, 1),
    'its first 16 bytes flipped': (file) => flip(file, 0, 16),
  };

  test.each(Object.entries(damages))('%s: a damaged file never loses data silently', async (_, damage) => {
    const whole = join(root, 'whole');
    await crashed(whole);
    // Tables as well as a log.
    await (await open(whole)).close();
    const files = await filesOf(whole);
    expect(files.length).toBeGreaterThan(6);
    for (const file of files) {
      const path = join(root, 'damaged');
      await cp(whole, path, { recursive: true });
      const hurt = join(path, file.slice(whole.length + 1));
      await damage(hurt, (await stat(hurt)).size);
      const before = await readFile(hurt);
      let refusal = '';
      try {
        await using directory = await open(path);
        expect(directory.storage.count('/configmaps'), `${file} went unnoticed`).toBe(20);
        expect(directory.storage.revision).toBe(20);
      } catch (error) {
        refusal = (error as Error).message;
        expect(refusal, file).toContain(path);
        expect(refusal, file).toMatch(/; (restore|delete|it holds no data: delete|this version reads)/);
        // A refused start changes nothing but LevelDB's own text log.
        expect(await readFile(hurt), file).toEqual(before);
        await expect(open(path), file).rejects.toThrow(refusal);
      }
      if (refusal.includes('--accept-data-loss')) {
        await using directory = await open(path, true);
        expect(directory.storage.revision).toBe(20);
        directory.storage.put('/configmaps', 'shop/new', object('new'));
        await directory.storage.durable(21);
      }
      await rm(path, { recursive: true });
    }
  });

  test('a torn write that was never acknowledged is not damage', async () => {
    const path = join(root, 'torn');
    await crashed(path);
    const [log] = (await readdir(join(path, 'journal'))).filter((name) => name.endsWith('.log'));
    const file = join(path, 'journal', log!);
    // A record whose end has not reached the disk.
    await writeFile(
      file,
      Buffer.concat([await readFile(file), Buffer.from('0123456700ff01', 'hex'), Buffer.alloc(30)]),
    );
    await using directory = await open(path);
    expect(directory.storage.revision).toBe(20);
  });

  test('the error names the damaged file', async () => {
    const path = join(root, 'named');
    await crashed(path, 100);
    const [log] = (await readdir(join(path, 'journal'))).filter((name) => name.endsWith('.log'));
    await flip(join(path, 'journal', log!), 5_000, 1);
    await expect(open(path)).rejects.toThrow(
      /records are damaged or missing \(.*\/journal\/\d+\.log is damaged at byte \d+\); restore the directory from a backup/,
    );
  });

  test('detects that acknowledged writes are missing', async () => {
    const path = join(root, 'short');
    await crashed(path);
    const [log] = (await readdir(join(path, 'journal'))).filter((name) => name.endsWith('.log'));
    const file = join(path, 'journal', log!);
    await truncate(file, (await stat(file)).size - 10);
    await expect(open(path)).rejects.toThrow(
      /the journal ends at revision 19, but revision 20 was acknowledged \(.*\.log ends within a record at byte \d+\)/,
    );
  });

  test('an interrupted start can be repeated', async () => {
    const path = join(root, 'interrupted');
    await crashed(path);
    await cp(join(path, 'journal'), join(path, 'journal.before'), { recursive: true });
    await rm(join(path, 'journal', 'CURRENT'));
    await using directory = await open(path);
    expect(directory.storage.count('/configmaps')).toBe(20);
    expect(await readdir(path)).not.toContain('journal.before');
  });
});
