import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Metrics } from '../../runtime/metrics.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { ReportedProblems } from '../reported-problems.js';

/** Where a certificate and its key are, in PEM: `tls.crt` and `tls.key` of a mounted Secret, mostly. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Texts in PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

const lookAgainMs = 10_000;

export async function readCertificateFiles({ certFile, keyFile }: CertificateFiles): Promise<CertificatePair> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return { cert, key };
}

/**
 * Hands on a certificate and its key, in PEM, now and whenever their files hold another one, until the signal aborts
 * (`certwatcher.New`, `Start`). Checks every ten seconds, so that renamed files and swapped symbolic links are seen, too.
 * Files that cannot be used are an error now; later that is logged, and the last good ones stay.
 *
 * @example
 * await watchCertificateFiles({ certFile, keyFile }, (pair) => server.setSecureContext(pair), { signal });
 */
export async function watchCertificateFiles(
  files: CertificateFiles,
  use: (pair: CertificatePair) => void,
  options: { readonly signal: AbortSignal; readonly runtime?: Partial<Runtime> },
): Promise<void> {
  const runtime = resolveRuntime(options.runtime);
  const first = await usablePair(files);
  use(first);
  followCertificateFiles(files, use, { ...runtime, server: 'certificate files', signal: options.signal, first });
}

/** Rejects with the files' names if they hold no certificate and key that belong together. */
export async function usablePair(files: CertificateFiles): Promise<CertificatePair> {
  const { certFile, keyFile } = files;
  try {
    const pair = await readCertificateFiles(files);
    // Node would take nothing for a certificate, and then refuse every caller.
    if (!pair.cert || !pair.key) throw new Error(`${pair.cert ? keyFile : certFile} is empty`);
    createSecureContext(pair);
    return pair;
  } catch (error) {
    throw new Error(`${certFile} and ${keyFile} must be a certificate and its key, in PEM: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/**
 * Looks at files every ten seconds until the signal aborts, and hands on what has changed in them, if it can be used:
 * between the writing of two files they may not belong together.
 */
export function followCertificateFiles(
  files: CertificateFiles,
  use: (pair: CertificatePair) => void,
  parts: {
    readonly clock: Scheduler;
    readonly log: Logger;
    readonly metrics: Metrics;
    /** For the log. */
    readonly server: string;
    readonly signal: AbortSignal;
    /** The certificate in use. */
    readonly first: CertificatePair;
  },
): void {
  const { clock, log, server, signal } = parts;
  const counter = (name: string, help: string) => parts.metrics.counter({ name, help }).with({});
  const reads = counter('certwatcher_read_certificate_total', 'Looks at the files of certificates.');
  const errors = counter('certwatcher_read_certificate_errors_total', 'Looks that found what cannot be used.');
  const problems = new ReportedProblems(clock);
  let used = parts.first;
  const look = async () => {
    const fields = { server, certFile: files.certFile };
    reads.inc();
    try {
      const next = await readCertificateFiles(files);
      if (signal.aborted) return;
      const hasChanged = next.cert !== used.cert || next.key !== used.key;
      if (hasChanged) {
        if (!next.cert || !next.key) throw new Error(`${next.cert ? files.keyFile : files.certFile} is empty`);
        createSecureContext({ cert: next.cert, key: next.key });
        use(next);
        used = next;
        log.info('the certificate was renewed', fields);
      }
      if (problems.isResolved('files') && !hasChanged) log.info('the certificate files can be read again', fields);
    } catch (error) {
      errors.inc();
      const isNews = problems.isNews('files', describeError(error));
      log[isNews ? 'error' : 'debug'](
        'the files of the certificate cannot be used: the last good ones stay, until they run out',
        { ...fields, keyFile: files.keyFile, error },
      );
    }
  };
  void (async () => {
    while (!signal.aborted) {
      await clock.sleep(lookAgainMs, { signal, background: true }).catch(() => {});
      if (!signal.aborted) await look();
    }
  })();
}
