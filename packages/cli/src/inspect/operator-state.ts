import type { ControllerHealth, ReconcileRecord } from 'riata/controller';
import type { WebhookRecord } from 'riata/webhook';
import type { OperatorEndpoint } from './operator-endpoint.js';

/** A kind, as the pages name it. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** An entry of `/debug/controllers`. */
export interface ControllerState extends ControllerHealth {
  /** Undefined for an operator with an older Riata. */
  readonly kind?: KindName;
}

/** An entry of `/debug/informers`. */
export interface CacheState {
  readonly cluster?: string;
  readonly kind: KindName;
  readonly synced: boolean;
  readonly informers: readonly {
    readonly objects: number;
    readonly phase: string;
    readonly consecutiveFailures: number;
    /** The message. */
    readonly lastError?: string;
    readonly lastEventMs?: number;
    readonly failingObjects: number;
  }[];
}

/** The answer of `/debug/process`. */
export interface ProcessState {
  readonly riata: string;
  readonly node: string;
  /** Wall time, in milliseconds since the epoch. */
  readonly now: number;
  readonly upMs: number;
  readonly memory: { readonly rssBytes: number; readonly heapUsedBytes: number };
}

/** One replica at one moment. */
export interface OperatorState {
  /** The replica: a URL or a Pod. */
  readonly name: string;
  readonly process: ProcessState;
  readonly controllers: readonly ControllerState[];
  readonly caches: readonly CacheState[];
}

/** Reads the state of one replica. */
export async function readOperatorState(endpoint: OperatorEndpoint): Promise<OperatorState> {
  const [process, controllers, caches] = await Promise.all([
    endpoint.get<ProcessState>('/debug/process'),
    endpoint.get<readonly ControllerState[]>('/debug/controllers'),
    endpoint.get<readonly CacheState[]>('/debug/informers'),
  ]);
  return { name: endpoint.name, process, controllers, caches };
}

/** Reads the finished reconciles of one replica. @param since leaves out what ended before, in epoch milliseconds */
export function readReconciles(endpoint: OperatorEndpoint, since?: number): Promise<readonly ReconcileRecord[]> {
  return endpoint.get('/debug/reconciles', since === undefined ? {} : { since: String(Math.floor(since)) });
}

/** Reads the finished webhook calls of one replica. */
export function readWebhookCalls(endpoint: OperatorEndpoint): Promise<readonly WebhookRecord[]> {
  return endpoint.get('/debug/webhooks');
}
