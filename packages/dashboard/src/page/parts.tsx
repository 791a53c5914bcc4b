import type { ComponentChildren } from 'preact';
import type { ReconcileRecord } from 'riata/controller';
import { formatKey, formatMs, formatTime } from './format.js';
import { objectHref } from './route.js';

/** The kind of a controller or cache. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Whether an object is of this kind: kinds of two groups may have the same name. */
export function isKind(
  kind: KindName | undefined,
  of: { readonly apiVersion: string; readonly kind: string },
): boolean {
  const group = of.apiVersion.includes('/') ? of.apiVersion.split('/', 1)[0] : '';
  return kind?.kind === of.kind && kind.group === group;
}

interface Key {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly name: string;
}

/** A key as a link to its object, if the kind is known. */
export function KeyLink({ kind, of }: { readonly kind: KindName | undefined; readonly of: Key }) {
  if (kind === undefined) return <span>{formatKey(of)}</span>;
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return <a href={objectHref({ ...of, apiVersion, kind: kind.kind })}>{formatKey(of)}</a>;
}

const failures = new Set(['error', 'terminal_error', 'gave_up', 'not_enqueued']);

export function Outcome({ of }: { readonly of: string }) {
  return (
    <span class={`badge ${failures.has(of) ? 'bad' : of === 'success' ? 'good' : ''}`}>{of.replaceAll('_', ' ')}</span>
  );
}

/** A table with a caption that screen readers say first; wide ones scroll in themselves. */
export function Table({
  caption,
  head,
  children,
  empty,
}: {
  readonly caption: string;
  readonly head: readonly string[];
  readonly children: readonly ComponentChildren[];
  readonly empty: string;
}) {
  if (children.length === 0) return <p class="empty">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** Why a reconcile ran, in words. */
export function reasonsOf(reasons: ReconcileRecord['reasons']): string {
  const words = reasons.map(({ source, change, object, count }) => {
    const what = change === undefined ? source : `${change} ${object}`;
    return count === 1 ? what : `${what} (${count}×)`;
  });
  return words.join(', ') || 'unknown';
}

/** One reconcile in a list. */
export function RecordRow({ record, kind }: { readonly record: ReconcileRecord; readonly kind: KindName | undefined }) {
  const { key, outcome, startedAt, durationMs, queuedMs, writes, error, reasons } = record;
  return (
    <span class="record">
      <time>{formatTime(startedAt)}</time> <Outcome of={outcome} /> <KeyLink kind={kind} of={key} />{' '}
      <span class="dim">
        waited {formatMs(queuedMs)}, ran {formatMs(durationMs)}
        {writes.length > 0 && `, ${writes.length} write${writes.length > 1 ? 's' : ''}`} · {reasonsOf(reasons)}
        {error !== undefined && ` · ${error}`}
      </span>
    </span>
  );
}
