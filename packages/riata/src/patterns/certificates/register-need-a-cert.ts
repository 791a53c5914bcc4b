import { Buffer } from 'node:buffer';
import { clientRuntime } from '../../client/client-runtime.js';
import {
  APIService,
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Secret,
  Service,
  ValidatingWebhookConfiguration,
} from '../../kinds/index.js';
import { type Duration, durationMs } from '../../object/duration.js';
import { isDeleting } from '../../object/finalizers.js';
import type { KubeObject } from '../../object/meta.js';
import { setOwnerReference } from '../../object/owner-references.js';
import { edit } from '../../object/value/edit.js';
import { isAlreadyExists } from '../../rest/errors/error-guards.js';
import {
  type CertificateTimes,
  decodeCertificateData,
  encodeCertificateData,
  renewCertificate,
  trustedAuthorities,
} from '../../runtime/crypto/renew-certificate.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import type { HandlerRegistration, RegisterOptions } from '../../shared/shared-controller-handler.js';
import type { Controllers } from '../controllers.js';
import { relatedResource } from '../related-resource.js';
import type { TypedController } from '../typed-controller.js';
import { type CaBundles, fillBundles, type ServiceName, servicesOf } from './ca-bundles.js';

/** The annotations of a Service that ask for a certificate: those of wrangler. */
export const needACertAnnotations = {
  /** The name of the Secret, in the Service's namespace. */
  secretName: 'need-a-cert.cattle.io/secret-name',
  /** A name more that the certificate is good for; any annotation that begins so. */
  dnsName: 'need-a-cert.cattle.io/dns-name',
} as const;

/** Options of {@link registerNeedACert}. */
export interface NeedACertOptions extends Pick<RegisterOptions, 'signal'> {
  /** Validity of a certificate; renewed when a third of it is left. @default '90d' */
  readonly lifetime?: Duration;
  /** Validity of an authority. @default '3650d' */
  readonly authorityLifetime?: Duration;
  /** How long a new authority is published before it signs. @default '1d' */
  readonly overlap?: Duration;
  /** @default that of the controllers' client */
  readonly runtime?: Partial<Pick<Runtime, 'clock'>>;
}

export const needACertOptionNames = optionNames<NeedACertOptions>({
  lifetime: true,
  authorityLifetime: true,
  overlap: true,
  runtime: true,
  signal: true,
});

const byService = 'need-a-cert-service';
const bySecret = 'need-a-cert-secret';

/** The longest time between two checks, whatever the certificate says. */
const longestWaitMs = 12 * 3_600_000;

/**
 * Issues a certificate for every Service with the annotation (`needacert.Register` of wrangler): in a Secret of type
 * `kubernetes.io/tls`, for the Service's names, signed by its own authority, and renewed in time. The authority is written to
 * the `caBundle` of webhook configurations, CustomResourceDefinition conversions and APIServices that name the Service. A new
 * authority is published to all of them before it signs.
 *
 * @example
 * Service({ metadata: { name: 'hook', namespace, annotations: { [needACertAnnotations.secretName]: 'hook-tls' } }, … })
 */
export function registerNeedACert(controllers: Controllers, options: NeedACertOptions = {}): HandlerRegistration {
  refuseUnknownOptions('registerNeedACert', options, needACertOptionNames);
  const { signal } = options;
  const times: CertificateTimes = {
    leafMs: durationMs(options.lifetime ?? '90d', 'registerNeedACert: lifetime'),
    authorityMs: durationMs(options.authorityLifetime ?? '3650d', 'registerNeedACert: authorityLifetime'),
    overlapMs: durationMs(options.overlap ?? '1d', 'registerNeedACert: overlap'),
  };
  const [services, secrets] = [controllers.for(Service), controllers.for(Secret)];
  const { clock } = resolveRuntime({ ...clientRuntime(services.client), ...options.runtime });
  services.shared.needs({ kind: Secret, verbs: ['create'] });
  const targets: readonly Target[] = [
    controllers.for(MutatingWebhookConfiguration),
    controllers.for(ValidatingWebhookConfiguration),
    controllers.for(CustomResourceDefinition),
    controllers.for(APIService),
  ].map((controller) => controller as unknown as Target);
  const keeper = new CertificateKeeper(services, secrets, times, () => clock.now());
  services.cache.addIndexer(bySecret, (service) => {
    const name = secretNameOf(service);
    return name === undefined ? [] : [`${service.metadata.namespace}/${name}`];
  });
  const registrations = [
    services.onChange(
      'need-a-cert',
      async (_key, service) => {
        if (service === undefined || isDeleting(service)) return;
        await keeper.keep(service);
        const { namespace, name } = service.metadata;
        for (const target of targets) {
          const found = await target.cache.getByIndex(byService, `${namespace}/${name}`);
          for (const { metadata } of found) target.enqueue({ name: metadata.name });
        }
      },
      { signal },
    ),
    relatedResource.watch(
      'need-a-cert-secrets',
      async (namespace, name) => {
        const found = await services.cache.getByIndex(bySecret, `${namespace}/${name}`);
        return found.map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
      },
      services,
      [secrets],
      { signal },
    ),
    ...targets.map((target) => {
      target.cache.addIndexer(byService, (object) => servicesOf(object).map(textOf));
      const handler = async (_key: string, object: KubeObject | undefined) => {
        if (object === undefined || isDeleting(object)) return object;
        const bundles: CaBundles = new Map();
        for (const service of servicesOf(object)) {
          const bundle = await keeper.bundleOf(service);
          if (bundle !== undefined) bundles.set(textOf(service), bundle);
        }
        const filled = fillBundles(object, bundles);
        return filled === object ? object : target.update(filled);
      };
      return target.onChange('need-a-cert', handler, { signal });
    }),
  ];
  const remove = async () => {
    await Promise.all(registrations.map((registration) => registration.remove()));
  };
  return { name: 'need-a-cert', remove, [Symbol.asyncDispose]: remove };
}

type Target = TypedController<KubeObject, 'Cluster'>;

/** Sees to the Secrets. */
class CertificateKeeper {
  readonly #services: TypedController<Service, 'Namespaced'>;
  readonly #secrets: TypedController<Secret, 'Namespaced'>;
  readonly #times: CertificateTimes;
  readonly #now: () => number;

  constructor(
    services: TypedController<Service, 'Namespaced'>,
    secrets: TypedController<Secret, 'Namespaced'>,
    times: CertificateTimes,
    now: () => number,
  ) {
    this.#services = services;
    this.#secrets = secrets;
    this.#times = times;
    this.#now = now;
  }

  /** Keeps a valid certificate in the Secret that a Service names, and requeues for its renewal. */
  async keep(service: Service): Promise<void> {
    const secretName = secretNameOf(service);
    if (secretName === undefined) return;
    const { namespace, name } = service.metadata;
    const key = { namespace, name: secretName };
    let secret = await this.#secrets.cache.find(key);
    let renewal = this.#renewal(service, secret);
    if (renewal.data !== undefined && secret === undefined) {
      try {
        const made = Secret({ metadata: key, type: 'kubernetes.io/tls', data: encodeCertificateData(renewal.data) });
        await this.#secrets.create(setOwnerReference(service, made));
      } catch (error) {
        // Another replica was faster: that one counts, for both.
        if (!isAlreadyExists(error)) throw error;
        secret = await this.#secrets.get(key);
        renewal = this.#renewal(service, secret);
      }
    }
    if (renewal.data !== undefined && secret !== undefined) {
      // With the resourceVersion that was read: of two replicas one gets a conflict, and retries.
      const data = encodeCertificateData(renewal.data);
      const renewed = edit(secret, (draft) => {
        draft.data = data;
      });
      await this.#secrets.update(renewed);
    }
    const after = Math.min(renewal.nextMs, longestWaitMs);
    this.#services.enqueueAfter({ namespace, name }, `${Math.ceil(after)}ms`);
  }

  /** The CA bundle for callers of a Service, in base64; undefined if it needs no certificate or has none yet. */
  async bundleOf(key: ServiceName): Promise<string | undefined> {
    const service = await this.#services.cache.find(key);
    const secretName = service === undefined ? undefined : secretNameOf(service);
    if (secretName === undefined) return undefined;
    const secret = await this.#secrets.cache.find({ namespace: key.namespace, name: secretName });
    const trusted = trustedAuthorities(decodeCertificateData(secret?.data));
    return trusted === '' ? undefined : Buffer.from(trusted).toString('base64');
  }

  #renewal(service: Service, secret: Secret | undefined) {
    const stored = secret === undefined ? undefined : decodeCertificateData(secret.data);
    return renewCertificate(stored, hostsOf(service), this.#now(), this.#times);
  }
}

function secretNameOf({ metadata }: Service): string | undefined {
  return metadata.annotations?.[needACertAnnotations.secretName] || undefined;
}

function hostsOf({ metadata }: Service): string[] {
  const { name, namespace, annotations = {} } = metadata;
  const own = [`${name}.${namespace}.svc`, `${name}.${namespace}`, `${name}.${namespace}.svc.cluster.local`];
  const more = Object.entries(annotations).filter(([key]) => key.startsWith(needACertAnnotations.dnsName));
  return [...new Set([...own, ...more.map(([, host]) => host)])];
}

const textOf = ({ namespace, name }: ServiceName): string => `${namespace}/${name}`;
