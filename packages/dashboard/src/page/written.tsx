import { useState } from 'preact/hooks';
import type { ReconcileRecord } from 'riata/controller';
import type { LoggedWrite } from 'riata/manager';
import { fetchObject } from './object-data.js';
import type { KindName } from './parts.js';
import { type ObjectRef, objectHref } from './route.js';
import { WriteDiff } from './write-diff.js';

type Write = ReconcileRecord['writes'][number];

const subresources: ReadonlySet<string> = new Set(['status', 'scale', 'finalize', 'approval', 'binding', 'eviction']);

/**
 * The object of a write, such as `Deployment shop/cart/status`; undefined if its kind is not among those that are known, or
 * is the name of several.
 */
export function writtenRef(
  object: string,
  kinds: readonly KindName[],
  cluster: string | undefined,
): ObjectRef | undefined {
  const [, kind = '', place = ''] = /^(\S+) (\S+)$/.exec(object) ?? [];
  const named = new Set(kinds.filter((each) => each.kind === kind).map(({ group, version }) => `${group}/${version}`));
  const [groupVersion] = named;
  if (groupVersion === undefined || named.size > 1) return undefined;
  const parts = place.split('/');
  if (parts.length > 1 && subresources.has(parts.at(-1) as string)) parts.pop();
  const [namespace, name] = parts.length === 1 ? [undefined, parts[0]] : parts;
  if (!name || parts.length > 2) return undefined;
  const apiVersion = groupVersion.replace(/^\//, '');
  return { apiVersion, kind, name, ...(namespace && { namespace }), ...(cluster && { cluster }) };
}

/** A write of a reconcile: what it changed is fetched when someone wants to see it. */
export function Written({ of: write, target }: { readonly of: Write; readonly target: ObjectRef | undefined }) {
  const [shown, setShown] = useState<LoggedWrite | string>();
  const words = `wrote: ${write.verb} ${write.object}`;
  if (target === undefined || write.resourceVersion === undefined) return <>{words}</>;
  const load = () =>
    fetchObject(target).then(
      (answer) => {
        const found = answer?.writes.find(({ resourceVersion }) => resourceVersion === write.resourceVersion);
        setShown(found ?? 'Not among the writes that are kept any more.');
      },
      (error: unknown) => setShown(error instanceof Error ? error.message : String(error)),
    );
  return (
    <details
      onToggle={(event) => {
        if (event.currentTarget.open && typeof shown !== 'object') void load();
      }}
    >
      <summary>{words}</summary>
      <p>
        <a href={objectHref(target)}>Open {write.object.replace(/^(\S+ \S+?\/\S+?)\/.*$/, '$1')}</a>
      </p>
      {shown === undefined ? (
        <p class="empty">Loading…</p>
      ) : typeof shown === 'string' ? (
        <p class="notice">{shown}</p>
      ) : (
        <WriteDiff of={shown} />
      )}
    </details>
  );
}
