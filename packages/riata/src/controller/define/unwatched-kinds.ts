import type { KindRef } from '../../object/kind.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { ControllerDefinition } from './controller-definition.js';

/** Logs once for each kind whose objects are applied and owned, but not watched: changes to them would go unnoticed. */
export class UnwatchedKinds {
  readonly #watched: readonly KindRef[];
  /** Watched, or logged. */
  readonly #known = new Set<KindRef>();

  constructor({ watches }: Pick<ControllerDefinition, 'watches'>) {
    this.#watched = watches.flatMap((watch) => ('kind' in watch ? [watch.kind] : []));
  }

  applied(kind: KindRef, log: () => Logger): void {
    if (this.#known.has(kind)) return;
    this.#known.add(kind);
    if (this.#watched.some((watched) => watched.kind === kind.kind && watched.group === kind.group)) return;
    const words = `applies a kind that it does not watch, so drift is not corrected; add .owns(${kind.kind})`;
    log().info(words, { kind: kind.kind });
  }
}
