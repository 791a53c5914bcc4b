import type { Client, WriteObject } from '../../client/interfaces.js';
import type { WebhookClientConfig } from '../../kinds/generated/types/admissionregistration-v1.js';
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../kinds/index.js';
import { ReportedProblems } from '../../manager/reported-problems.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { isNotFound } from '../../rest/errors/error-guards.js';
import { hash } from '../../runtime/crypto/hash.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Wake } from '../wake.js';
import { watchObject } from '../watch-object.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import { clientConfigsOf, hasAuthority, isSameAddress, otherAddress, withBundle } from './client-configs.js';
import {
  type ConfigurationParts,
  type CrdConversion,
  configurationsFor,
  conversionsFor,
  crdName,
} from './configurations.js';
import { InstallTurn, renewMs } from './install-turn.js';
import { type WebhookSite, webhookNames } from './webhook-site.js';

/** What a {@link WebhookInstaller} works with. */
export interface InstallerParts extends Omit<ConfigurationParts, 'definitions' | 'site'> {
  readonly client: Client;
  readonly definitions: () => readonly WebhookDefinition[];
  readonly site: WebhookSite;
  /** To be written at the start, before the configurations lead to it. @default none */
  readonly service?: WriteObject | undefined;
  /** False: the configurations are the manifests', and only their `caBundle` is kept. */
  readonly isInstalling: boolean;
  /** Called whenever all is as it should be. */
  readonly onInstalled: () => void;
  readonly runtime: Runtime;
}

type AnyKind = KindRef<KubeObject, 'Cluster'>;
/** As kinds of objects of which only some parts matter here. */
const kinds = {
  mutating: MutatingWebhookConfiguration,
  validating: ValidatingWebhookConfiguration,
} as unknown as Readonly<Record<'mutating' | 'validating', AnyKind>>;
const crds = CustomResourceDefinition as unknown as AnyKind;

const retryMs = 5_000;
const fieldManager = 'riata-webhooks';
/** Apart from the other: what a manager applies no longer is removed. */
const bundleManager = 'riata-webhooks-ca';

/**
 * Makes API servers call the webhooks: writes both configurations and the conversions of CRDs, and restores them when
 * someone changes them. Every replica does so; see {@link InstallTurn} for replicas that don't agree.
 */
export class WebhookInstaller {
  readonly #parts: InstallerParts;
  readonly #turn: InstallTurn;
  readonly #wake: Wake;
  readonly #problems: ReportedProblems;
  /** As last seen, by kind or by the name of a CRD; undefined if it does not exist. Missing until it is known. */
  readonly #live = new Map<string, KubeObject | undefined>();
  readonly #watched = new Map<string, Promise<void>>();
  /** CRDs whose conversion was applied by this program. */
  readonly #converted = new Set<string>();
  #hasService = false;
  #definedAt: number;
  #authorities: string | undefined;
  #problem: Error | undefined = new Error('the webhook configurations are not written yet');

  constructor(parts: InstallerParts) {
    const { client, site, runtime } = parts;
    this.#parts = parts;
    const name = webhookNames(site).lease;
    this.#turn = new InstallTurn(client, { namespace: site.namespace, name }, runtime.clock);
    this.#wake = new Wake(runtime.clock);
    this.#problems = new ReportedProblems(runtime.clock);
    this.#definedAt = runtime.clock.now();
  }

  /** Why the configurations are not as they should be; undefined if they are. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** The authorities for every `caBundle`, in PEM; undefined leaves these alone. */
  trust(authorities: string | undefined): void {
    if (authorities === this.#authorities) return;
    this.#authorities = authorities;
    this.#wake.call();
  }

  /** Webhooks were added or removed: this program's are the newest. */
  redefine(): void {
    this.#definedAt = this.#parts.runtime.clock.now();
    this.#wake.call();
  }

  /** Keeps them until the signal aborts. */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { configurationName: name } = this.#parts.site;
    for (const type of ['mutating', 'validating'] as const) this.#watch(type, kinds[type], name, signal);
    let waitMs = 0;
    while (!signal.aborted) {
      await this.#wake.wait(waitMs, signal);
      if (signal.aborted) break;
      try {
        waitMs = renewMs;
        await this.#keep(signal);
      } catch (error) {
        if (signal.aborted) break;
        waitMs = retryMs;
        this.#report(error);
      }
    }
    await Promise.all(this.#watched.values());
  }

  /** Whether the server has this authority in every `caBundle` that leads here. */
  async isPublished(authority: string): Promise<boolean> {
    const { client, site, definitions } = this.#parts;
    const converted = definitions().flatMap(({ targets }) =>
      targets.flatMap((target) => (target.type === 'conversion' ? [crdName(target.kind)] : [])),
    );
    const found = await Promise.all([
      ...Object.values(kinds).map((kind) => client.find(kind, { name: site.configurationName })),
      ...converted.map((name) => client.find(crds, { name })),
    ]);
    const own = found.flatMap((object) => (object === undefined ? [] : this.#ownConfigs(object)));
    return own.every(({ config }) => hasAuthority(config, authority));
  }

  /** Removes the configurations; conversions stay, as objects could not be read without. */
  async uninstall(): Promise<void> {
    const { client, site, isInstalling } = this.#parts;
    if (!isInstalling) return;
    for (const kind of Object.values(kinds)) {
      await client.delete(kind, { name: site.configurationName }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { client, definitions, isInstalling, onInstalled, runtime } = this.#parts;
    const parts = {
      ...this.#parts,
      definitions: definitions(),
      clientConfig: (path: string) => this.#clientConfig(path),
    };
    const wanted = configurationsFor(parts);
    const conversions = conversionsFor(parts);
    for (const { name } of conversions) this.#watch(name, crds, name, signal);
    // A change is applied on top of what there is: with the first look at all of it.
    if ([...this.#watched.keys()].some((id) => !this.#live.has(id))) return;
    const isOurs = isInstalling && (await this.#takeTurn(signal));
    if (isOurs && !this.#hasService) await this.#serve(signal);
    for (const type of ['mutating', 'validating'] as const) {
      const current = this.#live.get(type);
      const options = { fieldManager, force: true, current, signal };
      if (!isOurs) await this.#fill(kinds[type], current, signal);
      else if (current !== undefined || wanted[type].webhooks?.length) {
        this.#seen(type, await (client.apply as Apply)(wanted[type], options));
      }
    }
    const missing: string[] = [];
    for (const { name, conversion } of conversions) {
      const current = this.#live.get(name);
      if (current === undefined) missing.push(name);
      else if (isOurs) await this.#convert(name, { conversion }, current, signal);
      else await this.#fill(crds, current, signal);
    }
    for (const name of isOurs ? this.#converted : []) {
      const current = this.#live.get(name);
      if (conversions.some((conversion) => conversion.name === name)) continue;
      this.#converted.delete(name);
      if (current !== undefined) await this.#convert(name, undefined, current, signal);
    }
    if (missing.length > 0) {
      throw new Error(`CustomResourceDefinition ${missing.join(', ')} not found; install it, e.g. with installCrds`);
    }
    if (this.#problem !== undefined && isInstalling) runtime.log.info('the webhook configurations are in place');
    this.#problem = undefined;
    this.#problems.isResolved('configurations');
    onInstalled();
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { client, service } = this.#parts;
    if (service !== undefined) await (client.apply as Apply)(service, { fieldManager, force: true, signal });
    this.#hasService = true;
  }

  #takeTurn(signal: AbortSignal): Promise<boolean> {
    const { definitions } = this.#parts;
    // Without the authorities: these change, and are the same for all.
    const parts = { ...this.#parts, definitions: definitions() };
    const text = JSON.stringify([configurationsFor(parts), conversionsFor(parts)]);
    return this.#turn.take(hash('sha256', text, 'hex').slice(0, 32), this.#definedAt, { signal });
  }

  async #convert(
    name: string,
    spec: Pick<CrdConversion, 'conversion'> | undefined,
    current: KubeObject,
    signal: AbortSignal,
  ): Promise<void> {
    const { annotations } = this.#parts;
    const metadata = { name, ...(spec && annotations && { annotations }) };
    const fields = { metadata, ...(spec && { spec }) };
    const options = { fieldManager, force: true, current, signal };
    const { client } = this.#parts;
    // An apply leaves the address that someone else has written, of another form, beside its own: servers refuse both.
    const other = spec && otherAddress(clientConfigsOf(current)[0]?.config, spec.conversion.webhook.clientConfig);
    if (spec !== undefined && other !== undefined) {
      const { webhook, strategy } = spec.conversion;
      const conversion = {
        strategy,
        webhook: { ...webhook, clientConfig: { ...webhook.clientConfig, [other]: null } },
      };
      const patch = { type: 'merge', body: { spec: { conversion } } as never } as const;
      await client.patch(crds, { name }, patch, { fieldManager, signal });
    }
    this.#seen(name, await client.applyFields(crds, fields, options));
    if (spec !== undefined) this.#converted.add(name);
  }

  /** Writes the authorities into those entries of an object that lead here, and nothing else. */
  async #fill(kind: AnyKind, current: KubeObject | undefined, signal: AbortSignal): Promise<void> {
    if (current === undefined || this.#authorities === undefined) return;
    const own = this.#ownConfigs(current);
    const caBundle = withBundle({}, this.#authorities).caBundle;
    if (own.every(({ config }) => config.caBundle === caBundle)) return;
    const { name } = current.metadata;
    const fields =
      kind === crds
        ? { metadata: { name }, spec: { conversion: { webhook: { clientConfig: { caBundle } } } } }
        : { metadata: { name }, webhooks: own.map((entry) => ({ name: entry.name, clientConfig: { caBundle } })) };
    await this.#parts.client.applyFields(kind, fields, { fieldManager: bundleManager, force: true, signal });
  }

  /** The entries of an object that lead to this server. */
  #ownConfigs(object: KubeObject) {
    const own = this.#parts.clientConfig('/');
    return clientConfigsOf(object).filter(({ config }) => isSameAddress(config, own));
  }

  #clientConfig(path: string): WebhookClientConfig {
    const config = this.#parts.clientConfig(path);
    return this.#authorities === undefined ? config : withBundle(config, this.#authorities);
  }

  #watch(id: string, kind: AnyKind, name: string, signal: AbortSignal): void {
    if (this.#watched.has(id)) return;
    const { client, runtime } = this.#parts;
    const onChange = (object: KubeObject | undefined) => {
      this.#live.set(id, object);
      this.#wake.call();
    };
    this.#watched.set(id, watchObject(client, kind, { name }, { onChange, signal, runtime }));
  }

  #seen(id: string, object: KubeObject): void {
    this.#live.set(id, object);
  }

  #report(error: unknown): void {
    const { site, runtime } = this.#parts;
    this.#problem = error instanceof Error ? error : new Error(describeError(error));
    const level = this.#problems.isNews('configurations', describeError(error)) ? 'error' : 'debug';
    const fields = { configuration: site.configurationName, error };
    runtime.log[level]('cannot install the webhooks, will be retried', fields);
  }
}

type Apply = (object: object, options: object) => Promise<KubeObject>;
