import type { KubeObject, OwnerReference } from 'riata/object';
import { type ClusterState, idOf } from './cluster-state.js';
import type { RunObserver } from './run-observer.js';
import type { RunWrite } from './run-result.js';
import type { StoryStep } from './story-line.js';

/** The objects that a run has removed. */
export class RemovedObjects {
  /** By name, with the step of the story in which each was removed first. */
  readonly steps = new Map<string, number>();
  readonly #state: Pick<ClusterState, 'originOf' | 'wasCreated'>;
  readonly #story: { readonly steps: readonly StoryStep[] };
  readonly #observer: Pick<RunObserver, 'writes' | 'storyObjects'>;

  constructor(
    state: Pick<ClusterState, 'originOf' | 'wasCreated'>,
    story: { readonly steps: readonly StoryStep[] },
    observer: Pick<RunObserver, 'writes' | 'storyObjects'>,
  ) {
    this.#state = state;
    this.#story = story;
    this.#observer = observer;
  }

  /** Notes that an object was removed; gives what is wrong with that. */
  note(object: KubeObject): string | undefined {
    const id = idOf(object);
    if (!this.steps.has(id)) this.steps.set(id, this.#story.steps.length);
    const owner = this.#adopterOf(object, id);
    if (owner === undefined) return undefined;
    const { kind, name } = owner;
    return `${id} was deleted with ${kind} ${name}, which a controller made its owner; the story did not delete it`;
  }

  /** The owner that an object of the story, or of the setup, got and is deleted with by the garbage collector. */
  #adopterOf({ kind, metadata }: KubeObject, id: string): OwnerReference | undefined {
    const { uid = '', namespace, ownerReferences = [] } = metadata;
    if (ownerReferences.length === 0) return undefined;
    const origin = this.#state.originOf(uid);
    const isOfStory = this.#observer.storyObjects().some((each) => each.metadata.uid === uid);
    if (origin === undefined || (!isOfStory && this.#state.wasCreated(uid))) return undefined;
    const isNamed = ({ target }: StoryStep) => {
      if (target.verb === 'deletecollection') return target.kind === kind;
      const isItsNamespace = target.kind === 'Namespace' && target.name === namespace;
      return target.verb === 'delete' && (target.object === id || isItsNamespace);
    };
    const isDeletion = ({ verb, object }: RunWrite) => verb === 'delete' && object === id;
    if (this.#story.steps.some(isNamed) || this.#observer.writes.some(isDeletion)) return undefined;
    const known = new Set(origin.metadata.ownerReferences?.map((each) => each.uid));
    return ownerReferences.find((each) => !known.has(each.uid));
  }
}
