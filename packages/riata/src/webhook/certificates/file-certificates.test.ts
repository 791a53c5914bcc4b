import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { watchCertificateFiles } from '../../manager/probes/certificate-files.js';
import { createAuthority } from '../../runtime/crypto/x509.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { resolveRuntime } from '../../runtime/runtime.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { ServedCertificates } from './certificate-source.js';
import { FileCertificates } from './file-certificates.js';

const validity = { notBefore: new Date('2020-01-01'), notAfter: new Date('2120-01-01') };
const authority = createAuthority('test', validity);
const issue = () => authority.issue('localhost', ['localhost'], validity);

let directory: string;
let files: { readonly certFile: string; readonly keyFile: string };
let stop: AbortController;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  mkdirSync(join(directory, 'certs'));
  files = { certFile: join(directory, 'certs', 'tls.crt'), keyFile: join(directory, 'certs', 'tls.key') };
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  rmSync(directory, { recursive: true });
});

function write({ cert, key } = issue(), to = files): string {
  writeFileSync(to.certFile, cert);
  writeFileSync(to.keyFile, key);
  return cert;
}

/** Moves time to the next look, until it has had an effect: files are read in real time. */
async function lookUntil(clock: VirtualClock, isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await clock.advance(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const parts = () => {
  const [clock, metrics] = [new VirtualClock(), memoryMetrics()];
  return { clock, metrics, runtime: resolveRuntime({ clock, metrics, log: silentLogger }) };
};

test('files that are missing, empty or do not match are an error that names them', async () => {
  const { runtime } = parts();
  const { signal } = stop;
  const watch = () => watchCertificateFiles(files, () => {}, { signal, runtime });
  await expect(watch()).rejects.toThrow(/tls\.crt and .*tls\.key must be a certificate and its key, in PEM: .*ENOENT/);
  write({ ...issue(), key: '' });
  await expect(watch()).rejects.toThrow(/tls\.key is empty/);
  write({ ...issue(), key: issue().key });
  await expect(watch()).rejects.toThrow(/must be a certificate and its key/);
  await expect(new FileCertificates(files, runtime).load()).rejects.toThrow(/^webhooks: .*tls\.crt and /);
});

test('files are read at once, and again when they change, are renamed, or their directory is replaced', async () => {
  const { clock, metrics, runtime } = parts();
  const seen: string[] = [];
  const written = [write()];
  const { signal } = stop;
  await watchCertificateFiles(files, ({ cert }) => seen.push(cert), { signal, runtime });
  expect(seen).toEqual(written);
  written.push(write());
  await lookUntil(clock, () => seen.length === 2);
  const renamed = { certFile: `${files.certFile}.new`, keyFile: `${files.keyFile}.new` };
  written.push(write(issue(), renamed));
  renameSync(renamed.certFile, files.certFile);
  renameSync(renamed.keyFile, files.keyFile);
  await lookUntil(clock, () => seen.length === 3);
  // Gone for a while: the last good one stays.
  const errors = () => metrics.value('certwatcher_read_certificate_errors_total') ?? 0;
  renameSync(join(directory, 'certs'), join(directory, 'old'));
  await lookUntil(clock, () => errors() > 0);
  mkdirSync(join(directory, 'certs'));
  written.push(write());
  await lookUntil(clock, () => seen.length === 4);
  expect(seen).toEqual(written);
  expect(metrics.value('certwatcher_read_certificate_total')).toBeGreaterThan(errors());
});

test('authorities in a file are handed on when they change', async () => {
  const { clock, runtime } = parts();
  const caFile = join(directory, 'ca.crt');
  const cert = write();
  writeFileSync(caFile, 'first');
  const source = new FileCertificates({ ...files, caFile }, runtime);
  expect(await source.load()).toMatchObject({ authorities: 'first', serving: { cert } });
  const seen: ServedCertificates[] = [];
  const following = source.follow((next) => seen.push(next), { signal: stop.signal });
  writeFileSync(caFile, 'second');
  await lookUntil(clock, () => seen.length === 1);
  expect(seen).toMatchObject([{ authorities: 'second', serving: { cert } }]);
  stop.abort();
  await following;
});
