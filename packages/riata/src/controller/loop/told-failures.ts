import { keyId } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import { forgetCluster } from '../cluster/forget-cluster.js';
import type { Request } from './request.js';

/**
 * Which failures in `Ready` are this controller's to take back, where several controllers of one kind speak of the same
 * object. Those that it has told itself are. Of one that stands there otherwise it cannot know: it may be of this
 * controller in another process, or of another controller. It is taken back once; if it comes again, another one tells it,
 * and who fails there has to take it back. In memory alone: after a restart, that takes one more write.
 */
export class ToldFailures {
  readonly #own = new Set<string>();
  /** Keys with the object, in its generation, of which one was taken back that was not told here. */
  readonly #others = new Map<string, string>();

  /** A failure was told here. */
  told(key: Request): void {
    this.#own.add(keyId(key));
  }

  /** All went well, and a failure stands there: whether to take it back. */
  takeBack(key: Request, object: KubeObject): boolean {
    const id = keyId(key);
    if (this.#own.delete(id)) return true;
    const { uid, generation } = object.metadata;
    const version = `${uid}/${generation}`;
    if (this.#others.get(id) === version) return false;
    this.#others.set(id, version);
    return true;
  }

  /** All went well, and no failure stands there; or the object is gone. */
  forget(key: Request): void {
    if (this.#own.size > 0) this.#own.delete(keyId(key));
  }

  /** The object is gone. */
  gone(key: Request): void {
    this.forget(key);
    if (this.#others.size > 0) this.#others.delete(keyId(key));
  }

  /** A cluster is gone, and all that is in it. */
  clusterGone(cluster: string): void {
    forgetCluster(this.#own, cluster);
    forgetCluster(this.#others, cluster);
  }

  /** Keys come from another replica: what stands there may be of this controller again. */
  arrived(): void {
    this.#others.clear();
  }
}
