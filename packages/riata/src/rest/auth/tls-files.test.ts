import { createPrivateKey } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { bundleProblem, pairProblem } from './certificate-check.js';
import { TlsFiles } from './tls-files.js';

const x509: {
  issueCertificate(options: { commonName: string }): { cert: string; key: string };
} = await import(new URL('../../../../../tools/control-plane/x509.mjs', import.meta.url).href);
const [first, second] = ['first', 'second'].map((commonName) => x509.issueCertificate({ commonName })) as [
  { cert: string; key: string },
  { cert: string; key: string },
];
let dir: string;
let clock: VirtualClock;
const log = memoryLogger();
let paths: { ca: string; cert: string; key: string };

beforeEach(async () => {
  log.clear();
  dir = await mkdtemp(join(tmpdir(), 'riata-tls-'));
  clock = new VirtualClock();
  paths = { ca: join(dir, 'ca.crt'), cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key') };
  await Promise.all([write('ca', first.cert), write('cert', first.cert), write('key', first.key)]);
});
afterEach(() => rm(dir, { recursive: true }));

const write = (name: keyof typeof paths, text: string) => writeFile(paths[name], text);
const source = (name: keyof typeof paths) => ({
  from: { file: paths[name] },
  place: { source: 'kubeconfig', field: name },
});
const load = () => TlsFiles.load({ ca: source('ca'), cert: source('cert'), key: source('key'), clock, log });

describe('rotation', () => {
  test('nothing changed is the same object, however often it is looked at', async () => {
    const files = await load();
    const before = await files.current();
    await clock.advance(60_000);
    expect(await files.current()).toBe(before);
    expect(await files.refresh()).toBe(false);
    expect({ ...before }).toEqual({ ca: first.cert, ...first });
  });

  test('a new pair is adopted once both halves are there, never half of it', async () => {
    const files = await load();
    const before = await files.current();
    await write('cert', second.cert);
    await clock.advance(10_000);
    expect(await files.current()).toBe(before);
    await write('key', second.key);
    expect(await files.current()).toBe(before);
    await clock.advance(10_000);
    expect({ ...(await files.current()) }).toEqual({ ca: first.cert, ...second });
  });

  test('a rotated CA is picked up; a truncated or missing one is ignored', async () => {
    const files = await load();
    const before = await files.current();
    await write('ca', `${first.cert}${second.cert.slice(0, 200)}`);
    expect(await files.refresh()).toBe(false);
    await rm(paths.ca);
    expect(await files.refresh()).toBe(false);
    expect(await files.current()).toBe(before);
    await write('ca', first.cert + second.cert);
    expect(await files.refresh()).toBe(true);
    expect((await files.current()).ca).toBe(first.cert + second.cert);
  });

  test('a refused file is logged once, by name and without its contents', async () => {
    const files = await load();
    await write('key', second.key);
    for (let i = 0; i < 3; i++) expect(await files.refresh()).toBe(false);
    await write('cert', 'no certificate');
    await rm(paths.ca);
    for (let i = 0; i < 3; i++) expect(await files.refresh()).toBe(false);
    const kept = '; the one before stays in force';
    const pair = `a new client certificate cannot be used${kept}`;
    const warn = (message: string, problem: string) => ({ level: 'warn', message, fields: { problem } });
    expect(log.records).toEqual([
      warn(pair, `kubeconfig: key: file ${paths.key}: the client key does not belong to the client certificate`),
      warn(
        `a new certificate authority cannot be used${kept}`,
        `kubeconfig: ca: file ${paths.ca} cannot be read: no such file`,
      ),
      warn(pair, `kubeconfig: cert: file ${paths.cert}: the client certificate holds no PEM certificate`),
    ]);
    log.clear();
    await write('cert', second.cert);
    expect(await files.refresh()).toBe(true);
    expect(log.messages()).toEqual(['the client certificate in its file is in force again']);
  });

  test('a refresh after a 401 does not wait for the next look', async () => {
    const files = await load();
    await Promise.all([write('cert', second.cert), write('key', second.key)]);
    expect(await files.refresh()).toBe(true);
    expect((await files.current()).key).toBe(second.key);
  });
});

describe('at the start what is broken is an error', () => {
  test('a missing file', async () => {
    await rm(paths.key);
    await expect(load()).rejects.toThrow(`kubeconfig: key: file ${paths.key} cannot be read: no such file`);
  });

  test('a key of another certificate', async () => {
    await write('key', second.key);
    await expect(load()).rejects.toThrow('the client key does not belong to the client certificate');
  });

  test('no certificate in the CA file', async () => {
    await write('ca', 'hello');
    await expect(load()).rejects.toThrow(`ca: file ${paths.ca}: holds no PEM certificate`);
  });
});

describe('checks', () => {
  test('a bundle', async () => {
    expect(await bundleProblem(first.cert + second.cert)).toBeUndefined();
    expect(await bundleProblem(`# comment\n${first.cert}`)).toBeUndefined();
    expect(await bundleProblem('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')).toContain('1 of 1');
  });

  test('a pair', async () => {
    expect(await pairProblem(first.cert + second.cert, first.key)).toBeUndefined();
    expect(await pairProblem(first.cert, 'nonsense')).toBe('the client key holds no PEM private key');
    expect(await pairProblem('nonsense', first.key)).toBe('the client certificate holds no PEM certificate');
    const locked = createPrivateKey(first.key).export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'x',
    });
    expect(await pairProblem(first.cert, locked.toString())).toContain('is encrypted');
  });

  test('one PEM file may hold both', async () => {
    const both = first.key + first.cert;
    expect(await pairProblem(both, both)).toBeUndefined();
  });
});
