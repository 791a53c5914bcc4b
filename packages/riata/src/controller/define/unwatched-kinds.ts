import type { KindRef } from '../../object/kind.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { ControllerDefinition } from './controller-definition.js';

/** Says once of each kind that objects of it are applied, and owned, and nobody would notice if they changed. */
export class UnwatchedKinds {
  readonly #watched: readonly KindRef[];
  /** Watched, or told of. */
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
