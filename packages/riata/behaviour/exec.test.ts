import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { dryRun, isForbidden, isNotFound } from 'riata';
import { isExecError } from 'riata/client';
import { expect, test } from 'vitest';
import { rejection } from './servers.js';
import { describeStreams, patternBytes, patternSum } from './streams-play.js';

describeStreams('exec', (cluster) => {
  test('gives the output of a command, and its exit code', async () => {
    const { client, pod } = cluster();
    expect(await client.exec(pod, ['echo', 'hello', 'wörld']).text()).toBe('hello wörld\n');
    await using ran = await client.exec(pod, ['fail', '3', 'out of paper\n']);
    expect(await ran.ended).toEqual({ exitCode: 3 });
    expect(ran.protocol).toBe('v5.channel.k8s.io');
    const error = await rejection(client.exec(pod, ['fail', '3', 'no paper\nout of ink\n']).text());
    expect(isExecError(error) && [error.exitCode, error.stderr]).toEqual([3, 'no paper\nout of ink\n']);
    expect(error.message).toBe('exec in Pod web: exit code 3: out of ink');
  });

  test('separates stdout and stderr', async () => {
    const { client, pod } = cluster();
    await using ran = await client.exec(pod, ['both']);
    const read = async (stream: AsyncIterable<Uint8Array>) => {
      let text = '';
      for await (const bytes of stream) text += Buffer.from(bytes);
      return text.trim().split('\n');
    };
    const [out, err] = await Promise.all([read(ran.stdout), read(ran.stderr)]);
    expect([out.length, err.length, out[99], err[0]]).toEqual([100, 100, 'out 99', 'err 0']);
  });

  test('sends input and ends it, from a value, a generator or by hand', async () => {
    const { client, pod } = cluster();
    expect(await client.exec(pod, ['cat'], { stdin: 'all at once' }).text()).toBe('all at once');
    async function* pieces() {
      for (let at = 0; at < 1_000_000; at += 100_000) yield patternBytes(at, 100_000);
    }
    expect(await client.exec(pod, ['sum'], { stdin: pieces() }).text()).toBe(patternSum(1_000_000));
    await using ran = await client.exec(pod, ['cat'], { stdin: true });
    await ran.stdin.write('one ');
    expect(Buffer.from((await ran.stdout.next()).value as Uint8Array).toString()).toBe('one ');
    await ran.stdin.write(Buffer.from('two'));
    ran.stdin.end();
    expect(await ran.text()).toBe('two');
  });

  test('an input that fails ends the command, with its error', async () => {
    const { client, pod } = cluster();
    async function* broken() {
      yield 'a';
      throw new Error('the disk is gone');
    }
    await expect(client.exec(pod, ['cat'], { stdin: broken() }).text()).rejects.toThrow('the disk is gone');
  });

  test('a command that ends without reading its input has its output and its exit code', async () => {
    const { client, pod } = cluster();
    const input = patternBytes(0, 100_000);
    async function* pieces() {
      for (let i = 0; i < 50; i++) yield input;
    }
    // The server closes the connection while input is on its way: each round is another race.
    for (let round = 0; round < 15; round++) {
      await using ran = await client.exec(pod, ['quit', '3'], { stdin: pieces(), stderr: false });
      let text = '';
      for await (const bytes of ran.stdout) text += Buffer.from(bytes);
      expect([text, (await ran.ended).exitCode]).toEqual(['bye', 3]);
    }
  });

  test('input that is not awaited stays in order, its end included', async () => {
    const { client, pod } = cluster();
    await using ran = await client.exec(pod, ['sum'], { stdin: true });
    for (let at = 0; at < 1_000_000; at += 250_000) void ran.stdin.write(patternBytes(at, 250_000));
    ran.stdin.end();
    expect(await ran.text()).toBe(patternSum(1_000_000));
    await expect(ran.stdin.write('more')).rejects.toThrow('write after end');
  });

  test('a slow reader gets all of it', async () => {
    const { client, pod } = cluster();
    const length = 3_000_000;
    await using ran = await client.exec(pod, ['big', String(length)]);
    const hash = createHash('sha256');
    let pieces = 0;
    for await (const bytes of ran.stdout) {
      hash.update(bytes);
      pieces += 1;
      if (pieces % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(hash.digest('hex')).toBe(patternSum(length));
    expect(await ran.ended).toEqual({ exitCode: 0 });
  });

  test('a terminal has a size', async () => {
    const { client, pod } = cluster();
    await using ran = await client.exec(pod, ['size'], { tty: true, stdin: true });
    ran.resize({ columns: 132, rows: 43 });
    expect(await ran.text()).toBe('132x43');
  });

  test('attach reads and writes the process of the container', async () => {
    const { client, pod } = cluster();
    await using ran = await client.attach(pod, { container: 'main', stdin: 'hello' });
    expect(await ran.text()).toBe('attached to main\nhello');
  });

  test('a command that cannot be started is an error, and so is a Pod that is not there', async () => {
    const { client, pod } = cluster();
    const error = await rejection(client.exec(pod, ['broken']).text());
    expect(isExecError(error) && [error.exitCode, error.status?.reason]).toEqual([undefined, 'InternalError']);
    expect(error.message).toContain('no such program');
    expect(isNotFound(await rejection(client.exec({ ...pod, name: 'none' }, ['ls']).text()))).toBe(true);
    const wrong = await rejection(client.exec(pod, ['ls'], { container: 'none' }).text());
    expect(wrong.message).toContain('container none is not valid for pod web');
  });

  test('is ended by its signal and by disposal, while it runs', async () => {
    const { client, pod } = cluster();
    const stop = new AbortController();
    const ran = await client.exec(pod, ['hang'], { signal: stop.signal });
    const reading = ran.stdout.next();
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await expect(ran.ended).rejects.toThrow('enough');
    const other = await client.exec(pod, ['hang']);
    const ended = rejection(other.ended);
    await other.close();
    expect((await ended).message).toBe('exec in Pod web: closed before it had ended');
  });

  test('requires the right to create, and is not for dry runs', async () => {
    const { client, pod } = cluster();
    const { impersonating } = await import('riata');
    const nobody = impersonating(client, { user: 'nobody-special' });
    expect(isForbidden(await rejection(nobody.exec(pod, ['echo']).text()))).toBe(true);
    await expect(dryRun(client).exec(pod, ['echo']).text()).rejects.toThrow('cannot do this');
    expect(() => client.exec(pod, [])).toThrow('the command must be a list of words');
  });
});
