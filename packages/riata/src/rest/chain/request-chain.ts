import type { Runtime } from '../../runtime/runtime.js';
import type { Credentials } from '../config/rest-config.js';
import type { Transport } from '../transport/transport.js';
import { type OwnSecrets, withRedactedHeaders } from './own-secrets.js';
import { restMetrics, withMetrics } from './rest-metrics.js';
import { type Send, sendOver } from './send.js';
import { type ServerContact, withContact } from './server-contact.js';
import { withAuth } from './with-auth.js';
import { withDeadline } from './with-deadline.js';
import { withMeasurement } from './with-measurement.js';
import { createThrottle, withRateLimit } from './with-rate-limit.js';
import { withRefusal } from './with-refusal.js';
import { withRetry } from './with-retry.js';
import { withWarnings } from './with-warnings.js';

/** What a {@link requestChain} is made of. */
export interface RequestChainParts {
  readonly transport: Transport;
  readonly credentials: Credentials | undefined;
  /** The API group that the client is about. */
  readonly group: string;
  readonly secrets: OwnSecrets;
  readonly contact: ServerContact;
  readonly runtime: Runtime;
  /** Host and port of the server, for metrics. */
  readonly host: string;
  /** The server's path prefix, `''` if it has none. */
  readonly basePath: string;
  /** Aborts when the client is closed; ends all waits. */
  readonly closing: AbortSignal;
}

/**
 * The way of every request of a client, from the inside out: the order of the wrappers is what retries repeat, deadlines
 * include and metrics count. Made once; what differs between requests is in their settings. Rejects unless the response
 * is a success.
 */
export function requestChain(parts: RequestChainParts): Send {
  const { transport, credentials, group, secrets, contact, runtime, host, closing } = parts;
  const { clock, log } = runtime;
  const metrics = restMetrics(runtime.metrics);
  const throttle = createThrottle({ clock, log, metrics, host, closing });
  let send = sendOver(transport);
  send = withContact(send, contact);
  send = withRedactedHeaders(send, secrets);
  send = withAuth(send, credentials, closing);
  send = withMetrics(send, metrics, host);
  send = withRetry(send, { throttle, metrics, host, log, closing });
  send = withDeadline(send, clock);
  // Outside the deadline: a request that waits for its turn has not started.
  send = withRateLimit(send, throttle);
  send = withWarnings(send, log);
  send = withRefusal(send, secrets, group);
  return withMeasurement(send, metrics, parts);
}
