/**
 * Why an object is not what the server holds:
 * - `transformed`: a cache's transform changed or dropped fields;
 * - `metadata-only`: only `metadata` was asked for;
 * - `unsafe-integer`: it holds integers past 2^53, which a JavaScript number cannot carry exactly;
 * - `managed-fields-cut`: `metadata.managedFields` was cut out before parsing. A PUT without it keeps the server's own,
 *   so {@link refuseLossy} lets it pass.
 */
export type LossReason = 'transformed' | 'metadata-only' | 'unsafe-integer' | 'managed-fields-cut';

/** One thing that an object has lost. */
export interface Loss {
  readonly reason: LossReason;
  /** Where, as field paths (`spec.limits[0].max`); empty when it is not known or the whole object is meant. */
  readonly paths: readonly string[];
}

/** Everything that an object has lost; see {@link lossOf}. */
export interface LossRecord {
  readonly reasons: readonly Loss[];
}

/**
 * Beside the objects, not in them: they are plain JSON and may be frozen. Keyed by the API object itself; the items of a
 * list have records of their own.
 */
const records = new WeakMap<object, LossRecord>();

/**
 * Notes that `x` is not what the server holds, and returns `x`. Several notes add up; `x` may be frozen. The note follows
 * the object through `clone`, `edit`, `freeze`, `share` and the patch functions. A copy by spread, `structuredClone` or
 * JSON round trip is a new object of which nothing is known: use `clone`.
 */
export function markLossy<T extends object>(x: T, reason: LossReason, paths: readonly string[] = []): T {
  const reasons = [...(records.get(x)?.reasons ?? [])];
  const at = reasons.findIndex((loss) => loss.reason === reason);
  const known = at < 0 ? [] : reasons[at]!.paths;
  const loss: Loss = { reason, paths: [...new Set([...known, ...paths])] };
  if (at < 0) reasons.push(loss);
  else reasons[at] = loss;
  records.set(x, { reasons });
  return x;
}

/** What `x` has lost on its way from the server, or `undefined` for a faithful (or unknown) object. */
export function lossOf(x: object): LossRecord | undefined {
  return records.get(x);
}

/** Gives `to` the record of `from`, and the items of a list `to` those of `from`'s items at the same index. */
export function carryLoss(from: object, to: object): void {
  const loss = records.get(from);
  if (loss !== undefined) records.set(to, loss);
  const items = (from as { items?: unknown }).items;
  if (!Array.isArray(items)) return;
  const copies = (to as { items?: unknown }).items;
  if (!Array.isArray(copies)) return;
  for (let i = 0; i < items.length && i < copies.length; i++) {
    const item: unknown = items[i];
    const copied: unknown = copies[i];
    if (typeof item !== 'object' || item === null || typeof copied !== 'object' || copied === null) continue;
    const itemRecord = records.get(item);
    if (itemRecord !== undefined && item !== copied) records.set(copied, itemRecord);
  }
}

/** True when as much is known about the losses of both. */
export function sameLoss(a: object, b: object): boolean {
  const left = records.get(a);
  const right = records.get(b);
  if (left === right) return true;
  if (left === undefined || right === undefined || left.reasons.length !== right.reasons.length) return false;
  return left.reasons.every((loss, i) => {
    const other = right.reasons[i]!;
    return (
      loss.reason === other.reason &&
      loss.paths.length === other.paths.length &&
      loss.paths.every((path, j) => path === other.paths[j])
    );
  });
}

const brand: unique symbol = Symbol.for('riata.LossyObjectError') as never;

/** Thrown instead of writing an object back that has lost something; recognise it with {@link isLossyObjectError}. */
export class LossyObjectError extends Error {
  override readonly name = 'LossyObjectError';
  readonly [brand] = true;
  /** The refused verb, e.g. `update`. */
  readonly verb: string;
  readonly losses: readonly Loss[];

  constructor(message: string, verb: string, losses: readonly Loss[]) {
    super(message);
    this.verb = verb;
    this.losses = losses;
  }
}

/** True for a {@link LossyObjectError}, also of another copy of this package. */
export function isLossyObjectError(error: unknown): error is LossyObjectError {
  return typeof error === 'object' && error !== null && brand in error;
}

/**
 * Throws a {@link LossyObjectError} when a write of the whole object `x` (`verb`, as `update`) would overwrite on the
 * server what `x` has lost. Patch and apply name only what they change, and need no such check.
 */
export function refuseLossy(x: object, verb: string): void {
  const losses = records.get(x)?.reasons.filter((loss) => loss.reason !== 'managed-fields-cut') ?? [];
  if (losses.length === 0) return;
  throw new LossyObjectError(
    `${verb} ${nameOf(x)} refused: ${losses.map(describe).join('; ')}. Writing the whole object would overwrite that on ` +
      'the server: change the fields you mean with patch or apply, or get the full object first and edit that',
    verb,
    losses,
  );
}

function describe(loss: Loss): string {
  const shown = loss.paths.slice(0, 5).join(', ');
  const more = loss.paths.length > 5 ? ` and ${loss.paths.length - 5} more` : '';
  const where = shown === '' ? '' : ` (${shown}${more})`;
  switch (loss.reason) {
    case 'transformed':
      return `it was transformed on its way into the cache${where}`;
    case 'metadata-only':
      return 'it holds only the metadata';
    case 'unsafe-integer':
      return `it holds integers past 2^53 that are not exact${where}`;
    default:
      return `metadata.managedFields was cut${where}`;
  }
}

function nameOf(x: object): string {
  const { kind, metadata } = x as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } | null };
  const what = typeof kind === 'string' ? kind : 'object';
  const name = metadata?.name;
  if (typeof name !== 'string') return what;
  const namespace = metadata?.namespace;
  return `${what} ${typeof namespace === 'string' ? `${namespace}/` : ''}${name}`;
}
