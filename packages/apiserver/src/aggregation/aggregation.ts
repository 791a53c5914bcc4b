import type { JsonObject, KubeObject } from 'riata/object';
import type { Logger, Scheduler, Timer } from 'riata/runtime';
import type { UserInfo } from '../authentication/user-info.js';
import type { Reply } from '../http/reply.js';
import type { ServerRequest } from '../http/server-request.js';
import type { OtherDocument } from '../openapi/merge-version2.js';
import type { Storage, StorageEvent } from '../storage/storage.js';
import { type Availability, availabilityOf } from './availability.js';
import { proxyRequest } from './proxy-request.js';
import { type RemoteVersion, remoteOpenApi, remoteOpenApi2, remoteResources } from './remote-discovery.js';
import type { RemoteRequests } from './remote-requests.js';
import {
  type RemoteService,
  type ServedGroup,
  type ServedVersion,
  servedVersion,
  sortedGroups,
} from './remote-service.js';

/** What an {@link Aggregation} works with. */
export interface AggregationParts {
  readonly storage: Storage;
  /** Where APIServices are. */
  readonly table: string;
  readonly requests: RemoteRequests;
  readonly clock: Scheduler;
  readonly log: Logger;
  /** Whether the embedding program says itself where a Service is reached. */
  readonly isResolved: (remote: RemoteService) => boolean;
  /** Writes the condition `Available` of an APIService. */
  readonly setAvailable: (name: string, availability: Availability) => void;
}

/** So often every aggregated API server is looked at, whether or not anything has changed. */
const resyncMs = 30_000;
const [firstRetryMs, lastRetryMs] = [5, 30_000];

interface Watched {
  readonly served: ServedVersion;
  readonly remote: RemoteService;
  failures: number;
  timer: Timer | undefined;
  /** Set while it is looked at; `again`: something has changed since. */
  checking: Promise<void> | undefined;
  again: boolean;
}

/**
 * API servers that serve groups of their own behind this one (kube-aggregator): requests are handed on to them, their
 * resources are in discovery, and their APIServices say whether they can be reached.
 */
export class Aggregation {
  readonly #parts: AggregationParts;
  /** By the name of the APIService, those of other servers alone. */
  readonly #watched = new Map<string, Watched>();
  readonly #discovered = new Map<string, RemoteVersion>();
  readonly #stopping = new AbortController();
  #generation = 0;

  constructor(parts: AggregationParts) {
    this.#parts = parts;
  }

  /** Grows with every change of what other servers serve. */
  get generation(): number {
    return this.#generation;
  }

  /** The aggregated server of a path; undefined if there isn't one. */
  find(path: string): ServedVersion | undefined {
    if (this.#watched.size === 0) return undefined;
    const [, head, group = '', version = ''] = path.split('/');
    return head === 'apis' && version !== '' ? this.#watched.get(`${version}.${group}`)?.served : undefined;
  }

  /** The aggregated server with the OpenAPI document of a path below `/openapi/v3/`; undefined if there isn't one. */
  findOpenApi(path: string): ServedVersion | undefined {
    const prefix = '/openapi/v3/';
    return path.startsWith(prefix) ? this.find(path.slice(prefix.length - 1)) : undefined;
  }

  /** The paths of OpenAPI documents of other servers, as `/openapi/v3` names them. */
  openApiPaths(): Readonly<Record<string, JsonObject>> {
    const paths: Record<string, JsonObject> = {};
    for (const [name, { served }] of this.#watched) {
      const { openApi } = this.discovered(name);
      if (openApi !== undefined) paths[`apis/${served.group}/${served.version}`] = openApi;
    }
    return paths;
  }

  /**
   * The OpenAPI 2 documents of the other servers that are available, in the order of their priorities. One that has
   * none, or fails, is left out.
   */
  async openApiVersion2(): Promise<readonly OtherDocument[]> {
    const { requests, log } = this.#parts;
    const all = (this.groups() ?? []).flatMap(({ versions }) => versions);
    const remotes = all.flatMap(({ name }) => this.#watched.get(name) ?? []);
    const documents = await Promise.all(
      remotes
        .filter(({ remote }) => remote.available)
        .map(async ({ served: { name, group, version }, remote }) => {
          try {
            const document = await remoteOpenApi2(requests, remote, this.#stopping.signal);
            return document && { prefix: `/apis/${group}/${version}/`, document };
          } catch (error) {
            log.warn('cannot read the OpenAPI document of an aggregated API server', { name, error });
            return undefined;
          }
        }),
    );
    return documents.filter((document) => document !== undefined);
  }

  /** Hands a request on. */
  proxy(served: ServedVersion, user: UserInfo, request: ServerRequest, reply: Reply): Promise<void> {
    const remote = this.#watched.get(served.name)?.remote ?? served.remote;
    return proxyRequest(this.#parts.requests, remote, user, request, reply);
  }

  /** All groups in the order of their priorities; undefined while this server serves all of them itself. */
  groups(): readonly ServedGroup[] | undefined {
    if (this.#watched.size === 0) return undefined;
    const { storage, table } = this.#parts;
    return sortedGroups(storage.list(table).items.map(({ object }) => servedVersion(object)));
  }

  /** What discovery says of a version that another server serves. */
  discovered(name: string): RemoteVersion {
    return this.#discovered.get(name) ?? { resources: [], fresh: false };
  }

  /** Handles a write. */
  observe(table: string, { after, before }: StorageEvent): void {
    const { table: own } = this.#parts;
    if (table === own) {
      this.#learn(after?.object, before?.object);
      return;
    }
    if (this.#watched.size === 0 || (table !== '/services' && table !== 'discovery.k8s.io/endpointslices')) return;
    const { name, namespace = '', labels = {} } = (after ?? before)?.object.metadata ?? { name: '' };
    const service = table === '/services' ? name : labels['kubernetes.io/service-name'];
    for (const watched of this.#watched.values()) {
      const { service: of } = watched.remote;
      if (of.namespace === namespace && of.name === service) this.#checkNow(watched);
    }
  }

  /** Resolves when no aggregated API server is being looked at. */
  async idle(): Promise<void> {
    for (;;) {
      const checking = [...this.#watched.values()].flatMap((watched) => watched.checking ?? []);
      if (checking.length === 0) return;
      await Promise.all(checking);
    }
  }

  stop(): void {
    this.#stopping.abort(new Error('the server stops'));
    for (const { timer } of this.#watched.values()) timer?.cancel();
    this.#watched.clear();
  }

  #learn(after: KubeObject | undefined, before: KubeObject | undefined): void {
    const name = (after ?? before)?.metadata.name ?? '';
    const known = this.#watched.get(name);
    const served = after && servedVersion(after);
    if (this.#watched.size > 0 || served?.remote !== undefined) this.#generation += 1;
    if (known === undefined && served?.remote === undefined) return;
    known?.timer?.cancel();
    if (served?.remote === undefined) {
      this.#watched.delete(name);
      this.#discovered.delete(name);
      if (served !== undefined) this.#parts.setAvailable(name, local);
      return;
    }
    const { failures = 0, checking, again = false } = known ?? {};
    const watched = { served, remote: served.remote, failures, timer: undefined, checking, again };
    this.#watched.set(name, watched);
    const isOwnWrite = known !== undefined && isSameSpec(after, before);
    if (isOwnWrite) this.#checkLater(watched, resyncMs);
    else this.#checkNow(watched);
  }

  #checkNow(watched: Watched): void {
    watched.timer?.cancel();
    watched.again = true;
    if (watched.checking !== undefined) return;
    const { name } = watched.served;
    const checking = this.#check(name).finally(() => {
      const now = this.#watched.get(name);
      if (now?.checking === checking) now.checking = undefined;
    });
    watched.checking = checking;
  }

  #checkLater(watched: Watched, ms: number): void {
    watched.timer?.cancel();
    watched.timer = this.#parts.clock.after(ms, () => this.#checkNow(watched), { background: true });
  }

  async #check(name: string): Promise<void> {
    // The answer to the request that led to it comes first.
    await this.#parts.clock.yield();
    for (;;) {
      const watched = this.#watched.get(name);
      if (watched === undefined) return;
      if (!watched.again) return;
      watched.again = false;
      try {
        await this.#checkOnce(name, watched);
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.#parts.log.error('cannot check an APIService', { name, error });
        return;
      }
    }
  }

  async #checkOnce(name: string, { served, remote }: Watched): Promise<void> {
    const { requests, storage, isResolved, setAvailable } = this.#parts;
    const stopping = this.#stopping.signal;
    const availability = await availabilityOf({ storage, requests, isResolved, stopping }, served, remote);
    if (!this.#isStill(name, remote)) return;
    await this.#discover(name, served, remote, availability);
    setAvailable(name, availability);
    const now = this.#watched.get(name);
    if (now === undefined) return;
    now.failures = availability.reason === 'FailedDiscoveryCheck' ? now.failures + 1 : 0;
    const retryMs = Math.min(lastRetryMs, firstRetryMs * 2 ** (now.failures - 1));
    this.#checkLater(now, now.failures > 0 ? retryMs : resyncMs);
  }

  /** Whether an APIService leads to the same server as before. */
  #isStill(name: string, remote: RemoteService): boolean {
    const now = this.#watched.get(name)?.remote;
    return (
      now !== undefined &&
      JSON.stringify({ ...now, available: true }) === JSON.stringify({ ...remote, available: true })
    );
  }

  async #discover(name: string, served: ServedVersion, remote: RemoteService, { status }: Availability): Promise<void> {
    const known = this.#discovered.get(name);
    let found: RemoteVersion = { resources: [], ...known, fresh: false };
    if (status === 'True') {
      try {
        const { requests } = this.#parts;
        const resources = await remoteResources(requests, remote, served, this.#stopping.signal);
        const openApi = await remoteOpenApi(requests, remote, served, this.#stopping.signal);
        found = { resources, openApi, fresh: true };
      } catch (error) {
        if (this.#stopping.signal.aborted) throw error;
        this.#parts.log.warn('discovery of an aggregated API server failed', { name, error });
      }
    }
    if (!this.#watched.has(name) || JSON.stringify(known) === JSON.stringify(found)) return;
    this.#discovered.set(name, found);
    this.#generation += 1;
  }
}

const local: Availability = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

function isSameSpec(after: KubeObject | undefined, before: KubeObject | undefined): boolean {
  const specOf = (object: KubeObject | undefined) => JSON.stringify((object as JsonObject | undefined)?.spec);
  return specOf(after) === specOf(before);
}
