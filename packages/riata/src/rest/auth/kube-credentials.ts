import type { CachedCredentials, Credentials, TlsMaterial } from '../config/rest-config.js';
import type { AuthorizationSource, ClientCertificate, RefreshOptions } from './authorization-source.js';
import type { TlsFiles } from './tls-files.js';
import { tlsMaterial } from './tls-material.js';

const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

/** Credentials made of a trust in the server (with or without a client certificate) and a way to say who we are. */
export class KubeCredentials implements Credentials {
  readonly #files: TlsFiles;
  readonly #source: AuthorizationSource | undefined;
  /** The parts that a plugin's certificate was last joined with, so that the same parts give the same object. */
  #joined: { files: TlsMaterial; own: ClientCertificate; material: TlsMaterial } | undefined;

  /** The last answer of {@link tryCached}. */
  #hand: CachedCredentials | undefined;

  constructor(files: TlsFiles, source?: AuthorizationSource) {
    this.#files = files;
    this.#source = source;
  }

  async authorization(options?: { readonly signal?: AbortSignal }): Promise<string | undefined> {
    return this.#source?.authorization(options);
  }

  async tls(options?: { readonly signal?: AbortSignal }): Promise<TlsMaterial> {
    const own = await this.#source?.clientCertificate?.(options);
    const files = await this.#files.current();
    if (own === undefined) return files;
    if (this.#joined?.files !== files || this.#joined.own !== own) {
      this.#joined = { files, own, material: tlsMaterial({ ...files, ...own }) };
    }
    return this.#joined.material;
  }

  tryCached(): CachedCredentials | undefined {
    const tls = this.#files.tryCached();
    const source = this.#source;
    if (tls === undefined) return undefined;
    let authorization: string | undefined;
    if (source !== undefined) {
      const hand = source.tryCached?.();
      if (hand === undefined) return undefined;
      authorization = hand.authorization;
    }
    const known = this.#hand;
    if (known !== undefined && known.tls === tls && known.authorization === authorization) return known;
    this.#hand = { authorization, tls };
    return this.#hand;
  }

  async refresh(options?: RefreshOptions): Promise<boolean> {
    const [files, source] = await Promise.all([this.#files.refresh(), this.#source?.refresh(options) ?? false]);
    return files || source;
  }

  async problem(): Promise<string | undefined> {
    // Of a plugin, what it gave last: it is not run only to find out what was wrong.
    const { cert } = this.#joined?.material ?? (await this.#files.current());
    return cert === undefined ? undefined : this.#files.validityProblem(cert);
  }

  toJSON(): unknown {
    return { ...this.#files.describe(), authorization: this.#source?.describe() ?? 'none' };
  }

  toString(): string {
    return `Credentials ${JSON.stringify(this)}`;
  }

  [inspectCustom](): unknown {
    return this.toJSON();
  }
}
