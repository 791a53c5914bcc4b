import { chmod, lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromLocal, inPod, toLocal } from 'riata/client';
import { Pod } from 'riata/kinds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rejection } from './servers.js';
import { describeStreams, patternBytes } from './streams-play.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'riata-copy-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describeStreams('copy', (cluster) => {
  const longName = 'n'.repeat(140);

  async function site(): Promise<string> {
    const root = await mkdtemp(join(folder, 'site-'));
    await mkdir(join(root, 'deep', longName), { recursive: true });
    await writeFile(join(root, 'index.html'), 'hello');
    await writeFile(join(root, 'deep', longName, 'big'), patternBytes(0, 700_001));
    await writeFile(join(root, 'empty'), '');
    await writeFile(join(root, "a 'strange'\tnäme"), 'x');
    await chmod(join(root, 'index.html'), 0o754);
    await utimes(join(root, 'index.html'), 1_600_000_000, 1_600_000_000);
    await symlink('deep/../index.html', join(root, 'link'));
    return root;
  }

  async function expectCopy(from: string, to: string): Promise<void> {
    for (const name of ['index.html', `deep/${longName}/big`, 'empty', "a 'strange'\tnäme"]) {
      expect((await readFile(join(from, name))).equals(await readFile(join(to, name)))).toBe(true);
    }
    const stats = await lstat(join(to, 'index.html'));
    expect([stats.mode & 0o777, stats.mtimeMs / 1000]).toEqual([0o754, 1_600_000_000]);
    expect(await readlink(join(to, 'link'))).toBe('deep/../index.html');
  }

  test('a folder into a container and back, verified', async () => {
    const { client, pod } = cluster();
    const from = await site();
    const there = join(await mkdtemp(join(folder, 'there-')), 'site');
    const seen: number[] = [];
    const copied = await client.copy(fromLocal(from), inPod(pod, there), {
      verify: true,
      onProgress: ({ bytes }) => seen.push(bytes),
    });
    expect(copied).toEqual({ files: 4, bytes: 700_007 });
    expect(seen.at(-1)).toBe(700_007);
    await expectCopy(from, there);
    const back = join(await mkdtemp(join(folder, 'back-')), 'copy');
    expect(await client.copy(inPod(pod, there), toLocal(back), { verify: true })).toEqual(copied);
    await expectCopy(from, back);
  });

  test('a single file, and another one without tar', async () => {
    const { client, pod, node } = cluster();
    const root = await site();
    const there = join(await mkdtemp(join(folder, 'there-')), 'renamed');
    await client.copy(fromLocal(join(root, 'index.html')), inPod(pod, there));
    expect(await readFile(there, 'utf8')).toBe('hello');
    const bare = { namespace: pod.namespace, name: 'bare' };
    const spec = { nodeName: node, containers: [{ name: 'bare', image: 'b' }], automountServiceAccountToken: false };
    await client.create(Pod({ metadata: bare, spec }));
    await client.copy(fromLocal(join(root, 'index.html')), inPod(bare, `${there}-2`), { verify: true });
    expect(await readFile(`${there}-2`, 'utf8')).toBe('hello');
    await client.copy(inPod(bare, there), toLocal(`${there}-3`), { verify: true });
    expect(await readFile(`${there}-3`, 'utf8')).toBe('hello');
    for (const copying of [
      () => client.copy(fromLocal(root), inPod(bare, `${there}-4`)),
      () => client.copy(inPod(bare, root), toLocal(`${there}-5`)),
    ]) {
      expect((await rejection(copying())).message).toContain('the container has no tar');
    }
  });

  test('what is missing, or leads outside, is an error', async () => {
    const { client, pod } = cluster();
    const root = await site();
    const none = join(folder, 'none');
    expect((await rejection(client.copy(inPod(pod, none), toLocal(join(root, 'x'))))).message).toMatch(/exit code 2/);
    await expect(client.copy(fromLocal(none), inPod(pod, join(root, 'x')))).rejects.toThrow('ENOENT');
    // Little enough to be sent before tar ends: a server that closes with input unread may cut off what it reported.
    const small = fromLocal(join(root, 'index.html'));
    await expect(client.copy(small, inPod(pod, join(none, 'x', 'y')))).rejects.toThrow('tar failed');
    await symlink('/etc/passwd', join(root, 'out'));
    const outside = await rejection(client.copy(inPod(pod, root), toLocal(join(folder, 'unpacked'))));
    expect(outside.message).toContain('leads outside');
    expect(() => inPod(pod, 'relative')).toThrow('must be absolute');
    expect(() => inPod(pod, '/a/../b')).toThrow('must be absolute');
  });
});
