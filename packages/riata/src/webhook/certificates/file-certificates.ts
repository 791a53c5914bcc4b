import { readFile } from 'node:fs/promises';
import { type CertificatePair, followCertificateFiles, usablePair } from '../../manager/probes/certificate-files.js';
import { ReportedProblems } from '../../manager/reported-problems.js';
import type { WebhookCertificateFiles } from '../../manager/webhook-options.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { CertificateSource, ServedCertificates } from './certificate-source.js';

const lookAgainMs = 10_000;

/** Certificates in files, which are checked again every ten seconds (`certwatcher`). */
export class FileCertificates implements CertificateSource {
  readonly #files: WebhookCertificateFiles;
  readonly #runtime: Runtime;
  #pair: CertificatePair = { cert: '', key: '' };
  #authorities: string | undefined;

  constructor(files: WebhookCertificateFiles, runtime: Runtime) {
    this.#files = files;
    this.#runtime = runtime;
  }

  async load(): Promise<ServedCertificates> {
    const { caFile } = this.#files;
    try {
      this.#pair = await usablePair(this.#files);
    } catch (error) {
      throw new Error(`webhooks: ${(error as Error).message}`, { cause: error });
    }
    if (caFile !== undefined) {
      this.#authorities = await readFile(caFile, 'utf8').catch((error: unknown) => {
        throw new Error(`webhooks: caFile ${caFile} cannot be read: ${describeError(error)}`, { cause: error });
      });
    }
    return this.#served;
  }

  async follow(use: (next: ServedCertificates) => void, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const parts = { ...this.#runtime, server: 'webhooks', signal, first: this.#pair };
    followCertificateFiles(
      this.#files,
      (pair) => {
        this.#pair = pair;
        use(this.#served);
      },
      parts,
    );
    const { caFile } = this.#files;
    if (caFile === undefined) return;
    const { clock, log } = this.#runtime;
    const problems = new ReportedProblems(clock);
    while (!signal.aborted) {
      await clock.sleep(lookAgainMs, { signal, background: true }).catch(() => {});
      if (signal.aborted) return;
      try {
        const authorities = await readFile(caFile, 'utf8');
        problems.isResolved(caFile);
        if (authorities === this.#authorities || authorities === '') continue;
        this.#authorities = authorities;
        use(this.#served);
      } catch (error) {
        const level = problems.isNews(caFile, describeError(error)) ? 'error' : 'debug';
        log[level]('cannot read the authorities of the webhooks, the last ones stay', { caFile, error });
      }
    }
  }

  get #served(): ServedCertificates {
    return { serving: this.#pair, authorities: this.#authorities };
  }
}
