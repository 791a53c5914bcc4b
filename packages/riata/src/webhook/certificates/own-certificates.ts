import type { Client } from '../../client/interfaces.js';
import { Secret } from '../../kinds/index.js';
import { ReportedProblems } from '../../manager/reported-problems.js';
import { compareResourceVersions } from '../../object/compare-resource-versions.js';
import { edit } from '../../object/value/edit.js';
import { isAlreadyExists, isConflict, isForbidden } from '../../rest/errors/error-guards.js';
import {
  type CertificateData,
  type CertificateTimes,
  decodeCertificateData,
  encodeCertificateData,
  isCertificateData,
  renewCertificate,
  trustedAuthorities,
} from '../../runtime/crypto/renew-certificate.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Wake } from '../wake.js';
import { watchObject } from '../watch-object.js';
import type { CertificateSource, ServedCertificates } from './certificate-source.js';

/** What {@link OwnCertificates} work with. */
export interface OwnCertificatesParts {
  readonly client: Client;
  readonly namespace: string;
  readonly secretName: string;
  /** The names and addresses that API servers call the webhook by. */
  readonly hosts: readonly string[];
  readonly times: CertificateTimes;
  /** Whether every `caBundle` has this authority already. */
  readonly isPublished: (authority: string) => Promise<boolean>;
  readonly runtime: Runtime;
}

/** The longest time between two checks, whatever the certificate says. */
const longestWaitMs = 12 * 3_600_000;
const retryMs = 5_000;

/**
 * An authority and a certificate in a Secret that all replicas share. Every replica renews it when that is due, and the
 * server lets only one of them: updates carry the resourceVersion that was read. A new authority signs once it is in
 * every `caBundle`. If someone deletes or damages the Secret, it is restored from what this replica serves with.
 */
export class OwnCertificates implements CertificateSource {
  readonly #parts: OwnCertificatesParts;
  readonly #wake: Wake;
  readonly #problems: ReportedProblems;
  /** As last seen; undefined if it does not exist. */
  #secret: Secret | undefined;
  /** The last data that could be used. */
  #data: CertificateData | undefined;
  #isRotating = false;

  constructor(parts: OwnCertificatesParts) {
    this.#parts = parts;
    this.#wake = new Wake(parts.runtime.clock);
    this.#problems = new ReportedProblems(parts.runtime.clock);
  }

  async load({ signal }: { readonly signal: AbortSignal }): Promise<ServedCertificates> {
    const { clock } = this.#parts.runtime;
    for (;;) {
      let waitMs = retryMs;
      signal.throwIfAborted();
      try {
        this.#secret = await this.#read(signal);
        waitMs = await this.#keep(signal);
        if (this.#data !== undefined) return servedBy(this.#data);
      } catch (error) {
        signal.throwIfAborted();
        if (isForbidden(error)) throw this.#forbidden(error);
        this.#report(error);
      }
      await clock.sleep(Math.min(waitMs, retryMs), { signal, background: true });
    }
  }

  async follow(use: (next: ServedCertificates) => void, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { client, namespace, secretName: name, runtime } = this.#parts;
    const onChange = (secret: Secret | undefined) => {
      // Behind an own write.
      if (isOlder(secret, this.#secret)) return;
      this.#secret = secret;
      this.#wake.call();
    };
    const watching = watchObject(client, Secret, { namespace, name }, { onChange, signal, runtime });
    let used = this.#data;
    let waitMs = 0;
    while (!signal.aborted) {
      await this.#wake.wait(waitMs, signal);
      if (signal.aborted) break;
      try {
        waitMs = await this.#keep(signal);
        if (this.#problems.isResolved('secret')) runtime.log.info('the certificate Secret is good again', { name });
      } catch (error) {
        if (signal.aborted) break;
        if (!isConflict(error)) this.#report(error);
        waitMs = retryMs;
      }
      if (this.#data !== undefined && this.#data !== used) {
        used = this.#data;
        use(servedBy(used));
      }
    }
    await watching;
  }

  rotate(): void {
    this.#isRotating = true;
    this.#wake.call();
  }

  wake(): void {
    this.#wake.call();
  }

  /** Renews what is due, and takes over what is stored. Resolves to the time until the next check. */
  async #keep(signal: AbortSignal): Promise<number> {
    const { hosts, times, runtime, isPublished } = this.#parts;
    const stored = decodeCertificateData(this.#secret?.data);
    const isGood = isCertificateData(stored);
    const base = isGood ? stored : this.#data;
    const now = runtime.clock.now();
    const next = base?.['next-ca.crt'];
    const options = {
      isPublished: next === undefined || (await isPublished(next)),
      rotate: this.#isRotating,
    };
    const { data, nextMs } = renewCertificate(base, hosts, now, times, options);
    if (next !== undefined) this.#isRotating = false;
    const wanted = data ?? base;
    if (wanted !== undefined && (data !== undefined || !isGood)) {
      this.#secret = await this.#write(wanted, signal);
      const written = decodeCertificateData(this.#secret.data);
      // Another replica may have been faster: all replicas use the stored certificate, so read it again.
      if (!encodedEqual(written, wanted)) return 0;
      if (written['next-ca.crt'] !== undefined) this.#isRotating = false;
      this.#take(wanted);
    } else if (isGood) {
      this.#take(stored);
    }
    return Math.min(nextMs, this.#isRotating ? 1000 : longestWaitMs);
  }

  #take(data: CertificateData): void {
    const old = this.#data;
    if (old !== undefined && encodedEqual(old, data)) return;
    if (old !== undefined && old['tls.crt'] !== data['tls.crt']) {
      this.#parts.runtime.log.info('the certificate of the webhooks was renewed', {
        secret: this.#parts.secretName,
        isNewAuthority: old['ca.crt'] !== data['ca.crt'],
      });
    }
    this.#data = data;
  }

  /** Stores the data, unless another replica has stored some: then gives that one's. */
  async #write(data: CertificateData, signal: AbortSignal): Promise<Secret> {
    const { client, namespace, secretName: name } = this.#parts;
    const encoded = encodeCertificateData(data);
    try {
      if (this.#secret === undefined) {
        const made = Secret({ metadata: { namespace, name }, type: 'kubernetes.io/tls', data: encoded });
        return await client.create(made, { signal });
      }
      const renewed = edit(this.#secret, (draft) => {
        draft.data = encoded;
      });
      return await client.update(renewed, { signal });
    } catch (error) {
      if (!isAlreadyExists(error) && !isConflict(error)) throw error;
      const stored = await this.#read(signal);
      if (stored === undefined) throw error;
      return stored;
    }
  }

  #read(signal: AbortSignal): Promise<Secret | undefined> {
    const { client, namespace, secretName: name } = this.#parts;
    return client.find(Secret, { namespace, name }, { signal });
  }

  #report(error: unknown): void {
    const { secretName: secret, namespace, runtime } = this.#parts;
    const level = this.#problems.isNews('secret', describeError(error)) ? 'error' : 'debug';
    runtime.log[level]('cannot keep the certificate of the webhooks, will be retried', { secret, namespace, error });
  }

  #forbidden(error: unknown): Error {
    const { secretName, namespace } = this.#parts;
    return new Error(
      `webhooks: this program may not keep its certificate in Secret ${namespace}/${secretName}; grant it the rights of ` +
        'webhookRights, or choose other certificates',
      { cause: error },
    );
  }
}

function servedBy(data: CertificateData): ServedCertificates {
  return { serving: { cert: data['tls.crt'], key: data['tls.key'] }, authorities: trustedAuthorities(data) };
}

function encodedEqual(a: Partial<CertificateData>, b: Partial<CertificateData>): boolean {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof CertificateData)[];
  return keys.every((key) => a[key] === b[key]);
}

function isOlder(secret: Secret | undefined, known: Secret | undefined): boolean {
  if (secret?.metadata.uid === undefined || secret.metadata.uid !== known?.metadata.uid) return false;
  const { resourceVersion = '' } = secret.metadata;
  return (compareResourceVersions(resourceVersion, known.metadata.resourceVersion ?? '') ?? 0) < 0;
}
