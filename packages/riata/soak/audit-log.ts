import { readFile } from 'node:fs/promises';
import type { ObjectMeta } from 'riata/object';

/** One answered request, as far as it matters here. */
export interface AuditedWrite {
  readonly replica: string;
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly code: number;
  /** Microseconds since the epoch, when the server had it whole, and when it had answered. */
  readonly receivedAt: number;
  readonly answeredAt: number;
  /** The object that was answered, of Leases only. */
  readonly stored: { readonly metadata: ObjectMeta } | undefined;
}

interface AuditEvent {
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly responseObject?: { readonly metadata: ObjectMeta };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

const writes = new Set(['create', 'update', 'patch', 'delete']);

/** What the operator's replicas did in a namespace, as the server saw it, successful or not, in the order of arrival. */
export async function auditedRequests(
  path: string,
  namespace: string,
): Promise<{
  readonly all: number;
  readonly writes: readonly AuditedWrite[];
}> {
  const found: AuditedWrite[] = [];
  let all = 0;
  // What comes after the last line break is not whole yet.
  for (const line of (await readFile(path, 'utf8')).split('\n').slice(0, -1)) {
    if (!line.includes('widget-operator/')) continue;
    const event = JSON.parse(line) as AuditEvent;
    const replica = /^widget-operator\/(\S+)/.exec(event.userAgent ?? '')?.[1];
    if (replica === undefined) continue;
    all += 1;
    const { resource = '', name = '', subresource, namespace: at } = event.objectRef ?? {};
    if (at !== namespace || !writes.has(event.verb)) continue;
    found.push({
      ...{ replica, resource, name, subresource, verb: event.verb, code: event.responseStatus?.code ?? 0 },
      receivedAt: microseconds(event.requestReceivedTimestamp),
      answeredAt: microseconds(event.stageTimestamp),
      stored: event.responseObject,
    });
  }
  return { all, writes: found.sort((a, b) => a.receivedAt - b.receivedAt) };
}

function microseconds(time: string): number {
  const fraction = /\.(\d+)Z$/.exec(time)?.[1] ?? '0';
  return Date.parse(time.replace(/\.\d+Z$/, 'Z')) * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/**
 * Which replica led when, by the successful writes to the Lease: a term begins with a holder's first one. A write that
 * gives the lease up is one of its holder.
 */
export function leaderTerms(
  audited: readonly AuditedWrite[],
): readonly { readonly replica: string; readonly from: number }[] {
  const terms: { replica: string; from: number }[] = [];
  for (const { resource, replica, code, answeredAt } of audited) {
    if (resource !== 'leases' || code >= 300) continue;
    if (terms.at(-1)?.replica !== replica) terms.push({ replica, from: answeredAt });
  }
  return terms;
}

/**
 * Writes that came after a later leader, or owner, had written for the same key: of two, the older one won. Objects of
 * a key have the key's name. `termOf` gives the number of the term in which its writer made it, -1 for none. Each is
 * described in words; there must be none.
 */
export function overtakenWrites(
  audited: readonly AuditedWrite[],
  termOf: (write: AuditedWrite) => number = leaderTermOf(audited),
): readonly string[] {
  const newest = new Map<string, { readonly term: number; readonly write: AuditedWrite }>();
  const problems: string[] = [];
  for (const write of audited) {
    if (write.resource === 'leases' || write.resource === 'events' || write.code >= 300) continue;
    const id = `${write.resource}/${write.name}`;
    const term = termOf(write);
    const before = newest.get(write.name);
    if (term < 0) problems.push(`${write.replica} wrote ${id} in no term of its own`);
    if (before !== undefined && before.term > term) {
      problems.push(
        `${write.replica} (term ${term}) wrote ${id} after ${before.write.replica} (term ${before.term}) wrote ${before.write.resource}`,
      );
    } else newest.set(write.name, { term, write });
  }
  return problems;
}

function leaderTermOf(audited: readonly AuditedWrite[]): (write: AuditedWrite) => number {
  const terms = leaderTerms(audited);
  return (write) => terms.findLastIndex(({ replica, from }) => replica === write.replica && from <= write.answeredAt);
}

/** Names of what was created more than once. */
export function createdTwice(audited: readonly AuditedWrite[], resource: string): readonly string[] {
  const times = new Map<string, number>();
  for (const write of audited) {
    if (write.resource === resource && write.code === 201) times.set(write.name, (times.get(write.name) ?? 0) + 1);
  }
  return [...times].filter(([, count]) => count > 1).map(([name]) => name);
}
