import type { Client, WriteObject } from '../../client/interfaces.js';
import { waitForDeletion } from '../../controller/utilities/wait-for.js';
import { CustomResourceDefinition } from '../../kinds/index.js';
import { type KindRef, makeKind, type Scope } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { CrdManifest } from '../../object/schema/crd-manifest.js';
import { isMissingConversion } from '../../object/version/missing-conversion.js';
import { isInternalError, isNotFound } from '../../rest/errors/error-guards.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type CrdLoss, type CrdShape, crdLosses } from './crd-losses.js';
import { type WaitServedOptions, waitServed } from './wait-served.js';

/** A kind made by `defineKind`, or a CustomResourceDefinition, e.g. from a file. */
export type CrdSource = { crd(): CrdManifest } | CrdManifest | WriteObject;

/** Options of {@link installCrds}. */
export interface InstallCrdsOptions extends WaitServedOptions {
  /** The field manager. @default 'riata-crds' */
  readonly fieldManager?: string;
  /** Proceed even if objects would lose data. @default false */
  readonly allowDataLoss?: boolean;
  /**
   * Delete and recreate a definition that cannot be changed otherwise, if its kind has no objects. An object that is created
   * at that moment is lost. @default false
   */
  readonly replaceEmpty?: boolean;
  /** Wait until the kinds are served. @default true */
  readonly wait?: boolean;
}

export const installCrdsOptionNames = optionNames<InstallCrdsOptions>({
  fieldManager: true,
  allowDataLoss: true,
  replaceEmpty: true,
  wait: true,
  timeout: true,
  signal: true,
  runtime: true,
});

/** The result for one definition. */
export interface InstalledCrd {
  readonly name: string;
  readonly action: 'created' | 'updated' | 'replaced' | 'unchanged';
}

const crdDataLoss = Symbol.for('riata.CrdDataLossError');

/** Thrown when a definition is not changed because stored objects would lose data. */
export class CrdDataLossError extends Error {
  override readonly name = 'CrdDataLossError';
  readonly losses: readonly CrdLoss[];

  constructor(crd: string, losses: readonly CrdLoss[], remedy: string) {
    super(`CustomResourceDefinition ${crd} is not changed: ${losses.map(({ what }) => what).join('; ')}; ${remedy}`);
    this.losses = losses;
    Object.defineProperty(this, crdDataLoss, { value: true });
  }
}

/** True for a {@link CrdDataLossError}, also one of another copy of this library. */
export function isCrdDataLoss(error: unknown): error is CrdDataLossError {
  return typeof error === 'object' && error !== null && crdDataLoss in error;
}

/**
 * Installs CustomResourceDefinitions (`crd.Factory`, `crd.BatchCreateCRDs` of wrangler): creates or updates them, and waits
 * until their kinds are served. Unchanged definitions are not written.
 *
 * Rejects with a {@link CrdDataLossError} before anything is written if existing objects would lose data: a
 * changed scope or kind, a version removed that objects are stored in, a field that the new schema does not have.
 * The address of a conversion webhook is left as it is.
 *
 * @example
 * await installCrds(client, [Foo, Bar]);
 */
export async function installCrds(
  client: Client,
  sources: Iterable<CrdSource>,
  options: InstallCrdsOptions = {},
): Promise<readonly InstalledCrd[]> {
  refuseUnknownOptions('installCrds', options, installCrdsOptionNames);
  const { signal } = options;
  const plans = await Promise.all(
    [...sources].map(async (source) => {
      const crd = manifestOf(source);
      const current = await client.find(CustomResourceDefinition, { name: crd.metadata.name }, { signal });
      const isReplaced = current !== undefined && (await mustReplace(client, current, crd, options));
      return { crd, current, isReplaced };
    }),
  );
  const done: InstalledCrd[] = [];
  for (const { crd, current, isReplaced } of plans) {
    if (isReplaced && current !== undefined) await remove(client, current, options);
    done.push({
      name: crd.metadata.name,
      action: isReplaced
        ? await write(client, crd, undefined, options, 'replaced')
        : await write(client, crd, current, options),
    });
  }
  if (options.wait !== false) await Promise.all(plans.map(({ crd }) => served(client, crd, options)));
  return done;
}

function manifestOf(source: CrdSource): CrdManifest {
  const crd = ('crd' in source ? source.crd() : source) as CrdManifest;
  if (crd.kind === 'CustomResourceDefinition' && crd.apiVersion === 'apiextensions.k8s.io/v1') return crd;
  throw new TypeError(
    `installCrds: expected a kind of defineKind or an apiextensions.k8s.io/v1 CustomResourceDefinition, got ` +
      `${JSON.stringify(crd.apiVersion)} ${JSON.stringify(crd.kind)}`,
  );
}

/** Whether it must be recreated. Throws if that, or changing it, would lose stored objects. */
async function mustReplace(
  client: Client,
  current: KubeObject,
  crd: CrdManifest,
  options: InstallCrdsOptions,
): Promise<boolean> {
  const losses = crdLosses(current as unknown as CrdShape, crd as unknown as CrdShape);
  if (losses.length === 0) return false;
  const isTotal = losses.some((loss) => loss.of === 'all');
  const { allowDataLoss = false, replaceEmpty = false } = options;
  const isEmpty = !(await hasObjects(client, current, options.signal));
  if (!isEmpty && !allowDataLoss) {
    throw new CrdDataLossError(crd.metadata.name, losses, remedyFor(current, crd));
  }
  if (!isTotal) return false;
  if (allowDataLoss || replaceEmpty) return true;
  const remedy = 'there are no objects: delete the definition first, or allow that by replaceEmpty';
  throw new CrdDataLossError(crd.metadata.name, losses, remedy);
}

/** How objects are moved out of the way of a change. */
function remedyFor(current: KubeObject, { spec }: CrdManifest): string {
  const { storedVersions = [] } = (current as unknown as CrdShape).status ?? {};
  const dropped = storedVersions.filter((stored) => !spec.versions.some(({ name }) => name === stored));
  if (dropped.length === 0)
    return 'move the objects first (a new version beside the old one), or allow it by allowDataLoss';
  const { kind } = spec.names;
  return (
    `keep ${dropped.join(' and ')} by withVersion(${kind}, …) and run migration(${kind}) of riata/webhook, which rewrites ` +
    'the objects and trims status.storedVersions; or allow it by allowDataLoss'
  );
}

async function hasObjects(client: Client, crd: KubeObject, signal: AbortSignal | undefined): Promise<boolean> {
  const [kind] = kindsOf(crd as unknown as CrdManifest);
  if (kind === undefined) return true;
  try {
    return (await client.list(kind, { limit: 1, signal })).items.length > 0;
  } catch (error) {
    if (isNotFound(error)) return false;
    // A conversion that fails has found something to convert.
    if (isInternalError(error)) return true;
    throw error;
  }
}

async function write(
  client: Client,
  crd: CrdManifest,
  current: KubeObject | undefined,
  { fieldManager = 'riata-crds', signal }: InstallCrdsOptions,
  action?: 'replaced',
): Promise<InstalledCrd['action']> {
  const options = { fieldManager, force: true, signal, current: current as never };
  const conversion = (current as CrdManifest | undefined)?.spec.conversion;
  const isConverting = conversion?.strategy === 'Webhook';
  // A webhook writes its own address. Where it is no longer needed, it goes after the versions that need it.
  const keeps = isConverting && (isMissingConversion(crd.spec.conversion) || crd.spec.conversion?.strategy === 'None');
  const fields = keeps ? { ...crd, spec: { ...crd.spec, conversion } } : crd;
  let written = await client.applyFields(CustomResourceDefinition, fields as never, options);
  if (keeps && crd.spec.conversion.strategy === 'None') {
    const patch = { type: 'merge', body: { spec: { conversion: { strategy: 'None', webhook: null } } } } as const;
    written = await client.patch(CustomResourceDefinition, { name: crd.metadata.name }, patch, {
      fieldManager,
      signal,
    });
  }
  if (current === undefined) return action ?? 'created';
  return written.metadata.resourceVersion === current.metadata.resourceVersion ? 'unchanged' : 'updated';
}

async function remove(client: Client, current: KubeObject, options: InstallCrdsOptions): Promise<void> {
  const { name, uid } = current.metadata;
  const { signal, timeout = '30s', runtime } = options;
  await client.delete(CustomResourceDefinition, { name }, { preconditions: { uid }, signal });
  await waitForDeletion(client, CustomResourceDefinition, { name, uid }, { signal, timeout, runtime });
}

async function served(client: Client, crd: CrdManifest, options: InstallCrdsOptions): Promise<void> {
  const { runtime, signal, timeout } = options;
  await Promise.all(kindsOf(crd).map((kind) => waitServed(client, kind, { runtime, signal, timeout })));
}

/** A kind for each version that is served. */
function kindsOf({ spec }: CrdManifest): KindRef[] {
  const { group, names, scope, versions } = spec;
  const served = versions.filter((version) => version.served);
  return served.map(({ name: version }) => {
    return makeKind({ group, version, kind: names.kind, plural: names.plural, scope: scope as Scope });
  });
}
