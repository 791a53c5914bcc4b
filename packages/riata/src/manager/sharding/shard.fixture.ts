import type { Lease } from '../../kinds/generated/groups/coordination.k8s.io/v1.js';
import { applyJsonPatch } from '../../object/patch/apply-json-patch.js';
import type { JsonPatch } from '../../object/patch/json-patch.js';
import { ApiError } from '../../rest/errors/api-error.js';
import type { StatusReason } from '../../rest/errors/status-reason.js';
import { onAbort } from '../../runtime/signals.js';
import type { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { Passage, ProcessClock } from '../election/election.fixture.js';
import type { ShardRingClient } from './shard-register.js';

/** How a request fares, and for a read, how many versions ago its answer was true. */
export interface RingPassage extends Passage {
  readonly versionsAgo?: number;
}

/** A server with one Lease, and a network between it and its clients. */
export class RingServer {
  readonly #base: VirtualClock;
  readonly #history: (Lease | undefined)[] = [];
  #version = 0;
  #uid = 0;
  lease: Lease | undefined;
  passage: (identity: string, verb: string) => RingPassage = () => ({});
  /** Applied to each patch that arrives, to see what a missing check leads to. */
  corruptPatch: (patch: JsonPatch) => JsonPatch = (patch) => patch;
  /** Applied to each annotation that is stored. */
  corruptText: (text: string) => string = (text) => text;
  /** The requests, in order of arrival. */
  readonly log: string[] = [];

  constructor(base: VirtualClock) {
    this.#base = base;
  }

  /** By hand. */
  delete(): void {
    this.#store(undefined);
  }

  /** The server as one process sees it. */
  client(identity: string, process?: ProcessClock): ShardRingClient {
    const ask = (verb: string, run: (passage: RingPassage) => Lease | undefined, signal: AbortSignal | undefined) =>
      new Promise<unknown>((resolve, reject) => {
        const into = (fn: () => void) => (process ? process.enter(fn) : fn());
        onAbort(signal, () => reject(signal?.reason));
        if (signal?.aborted) return;
        const passage = this.passage(identity, verb);
        const { thereMs = 0, backMs = 0, lost, refused, isUnreachable } = passage;
        if (isUnreachable) return reject(new Error('connection refused'));
        const answer = (fn: () => void) => {
          if (lost !== 'answer') this.#base.after(backMs, () => into(fn));
        };
        const arrive = () => {
          this.log.push(`${identity} ${verb}`);
          try {
            if (refused !== undefined) throw problem(refused, 'ServiceUnavailable');
            const found = run(passage);
            answer(() => resolve(found));
          } catch (error) {
            answer(() => reject(error));
          }
        };
        if (lost !== 'request') this.#base.after(thereMs, arrive);
      });
    const client = {
      find: (_kind: unknown, _key: unknown, options?: { signal?: AbortSignal }) =>
        ask('find', ({ versionsAgo }) => this.#asOf(versionsAgo ?? 0), options?.signal),
      create: (lease: Lease, options?: { signal?: AbortSignal }) =>
        ask('create', () => this.#create(lease), options?.signal),
      patch: (_kind: unknown, _key: unknown, patch: { body: JsonPatch }, options?: { signal?: AbortSignal }) =>
        ask('patch', () => this.#patch(this.corruptPatch(patch.body)), options?.signal),
    };
    return client as unknown as ShardRingClient;
  }

  #asOf(versionsAgo: number): Lease | undefined {
    return versionsAgo === 0 ? this.lease : this.#history.at(-1 - versionsAgo);
  }

  #create(lease: Lease): Lease {
    if (this.lease !== undefined) throw problem(409, 'AlreadyExists');
    this.#uid += 1;
    return this.#store({ ...lease, metadata: { ...lease.metadata, uid: `u${this.#uid}` } }) as Lease;
  }

  #patch(patch: JsonPatch): Lease {
    if (this.lease === undefined) throw problem(404, 'NotFound');
    let next: Lease;
    try {
      next = applyJsonPatch(this.lease, patch);
    } catch {
      throw problem(422, 'Invalid');
    }
    if (next.metadata.resourceVersion !== this.lease.metadata.resourceVersion) throw problem(409, 'Conflict');
    return this.#store(next) as Lease;
  }

  #store(lease: Lease | undefined): Lease | undefined {
    this.#version += 1;
    this.lease = lease && this.#versioned(lease);
    this.#history.push(this.lease);
    return this.lease;
  }

  #versioned({ metadata, ...rest }: Lease): Lease {
    const texts = Object.entries(metadata.annotations ?? {}).map(([key, text]) => [key, this.corruptText(text)]);
    const resourceVersion = String(this.#version);
    return { ...rest, metadata: { ...metadata, resourceVersion, annotations: Object.fromEntries(texts) } };
  }
}

function problem(code: number, reason: StatusReason): Error {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason } as const;
  return new ApiError({ ...status, message: reason });
}
