import type { Client } from '../client/interfaces.js';
import type { KubeObject } from '../object/meta.js';
import type { Runtime } from '../runtime/runtime.js';

/** A request to a webhook server, whole: bodies have a limit. */
export interface WebhookRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
  /** Aborts when the caller's time is over or it hangs up, and when the server stops and does not wait any longer. */
  readonly signal: AbortSignal;
}

/** The answer to a {@link WebhookRequest}. */
export interface WebhookAnswer {
  readonly status: number;
  /** JSON; in parts, where the whole would block the event loop or take much memory. */
  readonly body: string | AsyncIterable<string>;
}

/** One path of a webhook server. */
export interface WebhookRoute {
  /** Starts with a slash: `/validate-example-com-v1-site`. One of a kind on each server. */
  readonly path: string;
  /** How large requests may be, in bytes, if larger than the server's limit. @default that */
  readonly bodyLimit?: number;
  /** Never rejects for what a handler throws: that is an answer, too. */
  answer(request: WebhookRequest): Promise<WebhookAnswer>;
}

/** What a webhook gets from the server that it runs on. */
export interface WebhookParts {
  /** Reads declared kinds from the cache and others from the server, as in a reconciler. */
  readonly client: Client;
  readonly runtime: Runtime;
  /** Keeps what a handler did, for `explain`. */
  readonly record: (record: WebhookRecord) => void;
}

/** A finished call of a webhook, for `explain`. */
export interface WebhookRecord {
  readonly webhook: string;
  readonly path: string;
  /** The object, or undefined for a review that names none. */
  readonly object:
    | (Pick<KubeObject, 'apiVersion' | 'kind'> & { readonly namespace?: string; readonly name?: string })
    | undefined;
  readonly operation: string;
  readonly user: string | undefined;
  readonly dryRun: boolean;
  /** On the clock of the runtime, in milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outcome: 'allowed' | 'denied' | 'failed';
  /** Denials, warnings and changed paths, in words; never values of the object. */
  readonly details: readonly string[];
}
