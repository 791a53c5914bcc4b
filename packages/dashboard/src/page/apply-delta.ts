import type { DebugState, DeltaEvent } from 'riata/manager';

const lists = ['controllers', 'caches', 'clusters', 'webhooks'] as const;

/** The state after a delta of `/debug/stream`. */
export function applyDelta(
  state: DebugState,
  { changed, removed }: Pick<DeltaEvent, 'changed' | 'removed'>,
): DebugState {
  const next: Record<string, unknown> = { ...state, ...changed };
  for (const section of lists) {
    const gone = new Set(Array.isArray(removed[section]) ? removed[section] : []);
    const members = new Map<string, { readonly id: string }>(state[section].map((each) => [each.id, each]));
    for (const each of changed[section] ?? []) members.set(each.id, each);
    for (const id of gone) members.delete(id);
    next[section] = [...members.values()];
  }
  for (const [section, gone] of Object.entries(removed)) if (gone === true) delete next[section];
  return next as unknown as DebugState;
}
