import { Buffer } from 'node:buffer';
import { z } from 'zod';
import type { Client } from '../../client/interfaces.js';
import { defineKind } from '../../object/define-kind.js';
import type { Status } from '../../object/meta.js';
import type { JsonPatch } from '../../object/patch/json-patch.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { resolveRuntime } from '../../runtime/runtime.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import type { WebhookAnswer, WebhookRecord } from '../webhook-route.js';
import type { AdmissionRequest } from './admission-review.js';

export const Site = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({
    zone: z.string().optional(),
    replicas: z.int().default(1),
    ports: z.array(z.object({ name: z.string(), port: z.int() })).optional(),
  }),
  status: z.object({ ready: z.int() }),
});

/** The response of a review, and what came with it. */
export interface Answered {
  readonly http: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly uid: string;
  readonly allowed: boolean;
  readonly status: Status | undefined;
  /** Decoded. */
  readonly patch: JsonPatch | undefined;
  readonly patchText: string | undefined;
  readonly patchType: string | undefined;
  readonly warnings: readonly string[] | undefined;
  readonly auditAnnotations: Readonly<Record<string, string>> | undefined;
}

/** A webhook without a server: reviews in, reviews out. */
export class WebhookPlay {
  readonly clock = new VirtualClock();
  readonly log = memoryLogger();
  readonly records: WebhookRecord[] = [];
  readonly #definition: WebhookDefinition;
  readonly #client: Client;

  constructor(definition: WebhookDefinition, client: Partial<Client> = {}) {
    this.#definition = definition;
    this.#client = client as Client;
  }

  /** Sends a body as it is. */
  async send(
    path: string,
    body: string | Uint8Array,
    options: { contentType?: string | undefined; query?: string; signal?: AbortSignal } = {},
  ): Promise<WebhookAnswer> {
    const { query = '', signal = new AbortController().signal } = options;
    const contentType = 'contentType' in options ? options.contentType : 'application/json';
    const runtime = resolveRuntime({ clock: this.clock, log: this.log });
    const parts = { client: this.#client, runtime, record: (record: WebhookRecord) => this.records.push(record) };
    const route = this.#definition.bind(parts).find((one) => one.path === path);
    if (route === undefined) throw new Error(`no route ${path}`);
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return route.answer({ path, query: new URLSearchParams(query), contentType, body: bytes, signal });
  }

  /** Sends a review of a request; what is not given is that of a create of a Site. */
  async review(
    path: string,
    request: Partial<AdmissionRequest> | string,
    options: { version?: string; query?: string; signal?: AbortSignal } = {},
  ): Promise<Answered> {
    const { version = 'v1', ...rest } = options;
    const text = typeof request === 'string' ? request : JSON.stringify({ ...siteRequest, ...request });
    const body = `{"apiVersion":"admission.k8s.io/${version}","kind":"AdmissionReview","request":${text}}`;
    return answered(await this.send(path, body, rest));
  }
}

export function answered(answer: WebhookAnswer): Answered {
  const body = JSON.parse(answer.body as string) as Record<string, unknown>;
  const response = (body.response ?? {}) as Omit<Answered, 'patch'> & { readonly patch?: string };
  const { uid, allowed, status, patch, patchType, warnings, auditAnnotations } = response;
  const patchText = patch === undefined ? undefined : Buffer.from(patch, 'base64').toString();
  return {
    ...{ http: answer.status, body, uid, allowed, status, patchType, warnings, auditAnnotations, patchText },
    patch: patchText === undefined ? undefined : (JSON.parse(patchText) as JsonPatch),
  };
}

export const siteRequest = {
  uid: 'u-1',
  kind: { group: 'example.com', version: 'v1', kind: 'Site' },
  resource: { group: 'example.com', version: 'v1', resource: 'sites' },
  name: 'one',
  namespace: 'shop',
  operation: 'CREATE',
  userInfo: { username: 'ann', groups: ['team-a'] },
  object: site(),
  oldObject: null,
  dryRun: false,
  options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
};

export function site(spec: object = { replicas: 1 }, more: object = {}): object {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Site',
    metadata: { namespace: 'shop', name: 'one', uid: 'x', resourceVersion: '1', creationTimestamp: '' },
    spec,
    ...more,
  };
}
