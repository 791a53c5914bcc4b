import type { KindRef } from '../../object/kind.js';
import { ApiError } from '../../rest/errors/api-error.js';
import type { StatusReason } from '../../rest/errors/status-reason.js';
import type { EventNotice } from './event-notice.js';
import type { EventClient } from './event-sink.js';

/** An object that events are about. */
export function cart(name = 'cart', namespace: string | undefined = 'shop') {
  return {
    apiVersion: 'shop.example.com/v1',
    kind: 'Cart',
    metadata: { name, ...(namespace && { namespace }), uid: `uid-${name}`, resourceVersion: '7' },
  };
}

/** The notice that a recorder makes of it. */
export function notice(changes: Partial<EventNotice> = {}): EventNotice {
  return {
    ...{ type: 'Normal', reason: 'Filled', message: 'filled', component: 'carts', instance: 'host-1', atMs: 1_000 },
    regarding: { apiVersion: 'shop.example.com/v1', kind: 'Cart', namespace: 'shop', name: 'cart', uid: 'uid-cart' },
    ...changes,
  };
}

export function refusal(code: number, reason: StatusReason, causes: readonly { reason: string }[] = []): ApiError {
  return new ApiError(
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, details: { causes } } as never,
    { method: 'POST', url: '/' } as never,
  );
}

/** One request of a {@link RecordingClient}. */
export interface Sent {
  readonly verb: 'create' | 'patch';
  readonly apiVersion: string;
  readonly namespace: string;
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Answer = (sent: Sent, signal: AbortSignal | undefined) => unknown;

/** Keeps what was sent; `answer` may throw or wait. */
export class RecordingClient {
  readonly sent: Sent[] = [];
  answer: Answer = () => undefined;

  get client(): EventClient {
    const send = async (sent: Sent, signal: AbortSignal | undefined) => {
      this.sent.push(sent);
      await this.answer(sent, signal);
      return sent.body;
    };
    return {
      create: (object: { apiVersion: string; metadata: object }, options?: { signal?: AbortSignal }) => {
        const { namespace, name } = object.metadata as { namespace: string; name: string };
        const { apiVersion } = object;
        return send({ verb: 'create', apiVersion, namespace, name, body: object as never }, options?.signal);
      },
      patch: (
        kind: KindRef,
        key: { namespace: string; name: string },
        patch: { body: object },
        options?: { signal?: AbortSignal },
      ) => {
        const { apiVersion } = kind;
        return send({ verb: 'patch', apiVersion, ...key, body: patch.body as never }, options?.signal);
      },
    } as unknown as EventClient;
  }

  /** `create`, `patch 2`, … */
  get verbs(): string[] {
    return this.sent.map(({ verb }) => verb);
  }
}
