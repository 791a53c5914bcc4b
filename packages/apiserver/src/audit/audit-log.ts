import { type Logger, optionNames, refuseUnknownOptions, type Scheduler } from 'riata/runtime';
import type { ServerRequest } from '../http/server-request.js';
import type { AuditEvent, AuditSink } from './audit-event.js';
import { type AuditPolicy, PolicyEvaluator } from './audit-policy.js';
import { AuditedRequest } from './audited-request.js';

/** What a server records of its requests. */
export interface AuditOptions {
  readonly policy: AuditPolicy;
  /** Where events go: an {@link AuditStream}, a file by {@link auditFile}, or your own. */
  readonly sink: AuditSink;
}

export const auditOptionNames = optionNames<AuditOptions>({ policy: true, sink: true });

/** Records requests as a policy says. */
export class AuditLog {
  readonly policy: PolicyEvaluator;
  readonly clock: Pick<Scheduler, 'now'>;
  readonly #sink: AuditSink;
  readonly #log: Logger;

  private constructor({ policy, sink }: AuditOptions, clock: Pick<Scheduler, 'now'>, log: Logger) {
    this.policy = new PolicyEvaluator(policy);
    this.clock = clock;
    this.#sink = sink;
    this.#log = log;
  }

  /** Undefined without options. Throws a `TypeError` for a policy that is not valid. */
  static from(options: AuditOptions | undefined, clock: Pick<Scheduler, 'now'>, log: Logger): AuditLog | undefined {
    if (options === undefined) return undefined;
    refuseUnknownOptions('ApiServer.start audit', options, auditOptionNames);
    return new AuditLog(options, clock, log);
  }

  /** Begins to record a request that has just come in. */
  begin(request: ServerRequest, auditID: string): AuditedRequest {
    return new AuditedRequest(this, request, auditID);
  }

  write(event: AuditEvent): void {
    try {
      this.#sink.write(event);
    } catch (error) {
      this.#log.error('cannot write audit event', { error, auditID: event.auditID });
    }
  }
}
