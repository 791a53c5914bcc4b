import type { Cause, ReconcileRecord } from 'riata/controller';
import type { WebhookRecord } from 'riata/webhook';
import type { ControllerState, OperatorState } from './operator-state.js';

/** An object that a person asks about. */
export interface ObjectName {
  /** As given: `Site`, `site` or `sites`. */
  readonly kind: string;
  readonly name: string;
  /** Undefined for any. */
  readonly namespace?: string;
}

/** A reconcile, and what it has to do with the object. */
export interface ExplainedReconcile extends ReconcileRecord {
  /** The replica. */
  readonly replica: string;
  /** Its key is the object; it wrote the object; a change of the object caused it. */
  readonly relation: 'reconciled' | 'wrote' | 'caused';
}

/** What a running operator knows about one object. */
export interface Explanation {
  readonly reconciles: readonly ExplainedReconcile[];
  readonly webhooks: readonly (WebhookRecord & { readonly replica: string })[];
  /** Controllers for the kind. */
  readonly controllers: readonly string[];
  /** What happens to the object right now. */
  readonly now: readonly string[];
}

/** A replica, with everything that it remembers. */
export interface RememberingReplica {
  readonly state: OperatorState;
  readonly reconciles: readonly ReconcileRecord[];
  readonly webhooks: readonly WebhookRecord[];
}

/** Finds what the replicas of an operator know about an object; reconciles are in order, oldest first. */
export function explanationOf(object: ObjectName, replicas: readonly RememberingReplica[]): Explanation {
  const controllers = new Set(
    replicas.flatMap(({ state, reconciles }) =>
      state.controllers.filter((controller) => isFor(controller, object.kind, reconciles)).map(({ name }) => name),
    ),
  );
  const reconciles = replicas.flatMap(({ state, reconciles }) =>
    reconciles.flatMap((record): ExplainedReconcile[] => {
      const relation = relationTo(object, record, controllers);
      return relation === undefined ? [] : [{ ...record, replica: state.name, relation }];
    }),
  );
  const webhooks = replicas.flatMap(({ state, webhooks }) =>
    webhooks
      .filter(
        (call) => call.object !== undefined && isKind(call.object.kind, object.kind) && isNamed(call.object, object),
      )
      .map((call) => ({ ...call, replica: state.name })),
  );
  return {
    reconciles: reconciles.sort((a, b) => a.startedAt - b.startedAt),
    webhooks: webhooks.sort((a, b) => a.startedAt - b.startedAt),
    controllers: [...controllers].sort(),
    now: replicas.flatMap(({ state }) => activities(state, object, controllers)),
  };
}

/** Whether people mean this kind: whatever the case, in the singular or the plural. */
export function isKind(kind: string, given: string): boolean {
  const [name, asked] = [kind.toLowerCase(), given.toLowerCase()];
  const plurals = [`${name}s`, `${name}es`, name.replace(/y$/, 'ies')];
  return asked === name || plurals.includes(asked);
}

function isNamed(key: { readonly namespace?: string; readonly name?: string }, asked: ObjectName): boolean {
  return key.name === asked.name && (asked.namespace === undefined || key.namespace === asked.namespace);
}

/** By its kind; for an older Riata, which does not show that, by what its reconciles say. */
function isFor({ name, kind }: ControllerState, asked: string, records: readonly ReconcileRecord[]): boolean {
  if (kind !== undefined) return isKind(kind.kind, asked);
  return records.some(
    ({ controller, reasons }) =>
      controller === name && reasons.some(({ source }) => source.startsWith('for ') && isKind(source.slice(4), asked)),
  );
}

function relationTo(
  asked: ObjectName,
  { controller, key, writes, reasons }: ReconcileRecord,
  controllers: ReadonlySet<string>,
): ExplainedReconcile['relation'] | undefined {
  if (controllers.has(controller) && isNamed(key, asked)) return 'reconciled';
  if (writes.some(({ object }) => isText(object, asked))) return 'wrote';
  return reasons.some(({ object }: Cause) => object !== undefined && isText(object, asked)) ? 'caused' : undefined;
}

/** Whether `Deployment shop/cart`, perhaps with `/status`, is the object. */
function isText(text: string, asked: ObjectName): boolean {
  const space = text.indexOf(' ');
  if (!isKind(text.slice(0, space), asked.kind)) return false;
  const parts = text.slice(space + 1).split('/');
  // Cluster-scoped with a subresource, or namespaced: names of subresources are few.
  const isSub = (part: string | undefined) => part === 'status' || part === 'scale' || part === 'eviction';
  const key = parts.length === 1 || (parts.length === 2 && isSub(parts[1])) ? [undefined, parts[0]] : parts;
  const [namespace, name] = key;
  return isNamed({ ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) }, asked);
}

function activities(state: OperatorState, object: ObjectName, controllers: ReadonlySet<string>): string[] {
  return state.controllers
    .filter(({ name }) => controllers.has(name))
    .flatMap(({ name, phase, active, failing, waitingFor }) => [
      ...(phase === 'running'
        ? []
        : [
            `controller ${name} is ${phase}${waitingFor.length > 0 ? `, waits for ${waitingFor.join(', ')}` : ''} on ${state.name}`,
          ]),
      ...active
        .filter(({ key }) => isNamed(key, object))
        .map(
          ({ runningMs, isOverdue }) =>
            `in flight for ${Math.round(runningMs)} ms${isOverdue ? ', past its timeout' : ''}`,
        ),
      ...failing
        .filter(({ key }) => key === object.name || key.endsWith(`/${object.name}`))
        .map(({ source, error }) => `not enqueued by ${source}: ${String(error)}`),
    ]);
}
