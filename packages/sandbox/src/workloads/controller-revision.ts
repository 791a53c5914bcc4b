import { equal, ignoreNotFound, isAlreadyExists, isDeleting, type ReconcileContext } from 'riata';
import { ControllerRevision, type DaemonSet, type PodTemplateSpec, type StatefulSet } from 'riata/kinds';
import { claimObjects } from './adoption.js';
import { controllerReference } from './pods.js';

type Context = ReconcileContext<DaemonSet> | ReconcileContext<StatefulSet>;

/** The data of a ControllerRevision: a patch that restores the template, which `kubectl rollout undo` applies. */
export interface RevisionData {
  readonly spec: { readonly template: PodTemplateSpec & { readonly $patch: 'replace' } };
}

/** How the revisions of a kind are called: the owner's name and a hash, which stands in a label, too. */
export interface RevisionNaming {
  readonly label: string;
  hash(data: RevisionData, collisionCount: number): string;
}

/** The templates that an object has had. */
export interface History {
  /** The oldest first. */
  readonly revisions: readonly ControllerRevision[];
  /** The revision of the object's current template; undefined if the object is being deleted and has none. */
  readonly latest: ControllerRevision | undefined;
  /** How often a name was taken by something else. */
  readonly collisionCount: number;
}

/** Sees to it that there is a ControllerRevision of the object's template, and that it has the highest number. */
export async function recordRevision(context: Context, naming: RevisionNaming): Promise<History> {
  const { object: owner, client } = context;
  const { collisionCount = 0 } = owner.status;
  const revisions = (await claimObjects(context, ControllerRevision, owner.spec.selector)).sort(byRevision);
  const data: RevisionData = { spec: { template: { ...owner.spec.template, $patch: 'replace' } } };
  const found = revisions.findLast((revision) => equal(revision.data, data));
  const newest = revisions.at(-1);
  if (isDeleting(owner) || (found !== undefined && found === newest)) {
    return { revisions, latest: found ?? newest, collisionCount };
  }
  const revision = (newest?.revision ?? 0) + 1;
  if (found !== undefined) {
    const latest = await client.patch(ControllerRevision, found.metadata, { type: 'merge', body: { revision } });
    return { revisions: [...revisions.filter((other) => other !== found), latest], latest, collisionCount };
  }
  const made = await createRevision(context, naming, data, revision, collisionCount);
  return { ...made, revisions: [...revisions, made.latest] };
}

/** A name may be taken by something else: another hash gives another name. */
async function createRevision(
  { object: owner, client }: Context,
  { label, hash }: RevisionNaming,
  data: RevisionData,
  revision: number,
  collisionCount: number,
) {
  const { namespace, name: prefix, annotations } = owner.metadata;
  for (let count = collisionCount; ; count += 1) {
    const word = hash(data, count);
    const name = `${prefix.slice(0, 223)}-${word}`;
    const labels = { ...owner.spec.template.metadata?.labels, [label]: word };
    const ownerReferences = [controllerReference(owner)];
    const desired = ControllerRevision({
      metadata: { namespace, name, labels, ownerReferences, ...(annotations && { annotations }) },
      data: { ...data },
      revision,
    });
    try {
      return { latest: await client.create(desired), collisionCount: count };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const taken = await client.find(ControllerRevision, { namespace, name });
      // The cache may be behind: then the next try knows.
      if (taken === undefined) throw error;
      if (equal(taken.data, data)) return { latest: taken, collisionCount: count };
    }
  }
}

function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  const at = ({ metadata }: ControllerRevision) => metadata.creationTimestamp;
  return a.revision - b.revision || at(a).localeCompare(at(b)) || a.metadata.name.localeCompare(b.metadata.name);
}

/** The template that a revision holds. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec {
  const { $patch: _, ...template } = (data as unknown as RevisionData).spec.template;
  return template;
}

/** Deletes revisions; some may be deleted already. */
export async function deleteRevisions({ client }: Context, revisions: readonly ControllerRevision[]): Promise<void> {
  for (const { metadata } of revisions) await client.delete(ControllerRevision, metadata).catch(ignoreNotFound);
}
