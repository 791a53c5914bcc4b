import { abortable, link, onAbort } from '../../runtime/signals.js';
import { Removed } from '../../runtime/stop-reasons.js';
import type { Controller } from '../loop/controller.js';
import type { Request } from '../loop/request.js';
import { isReplaying, type ReplayOptions, silence } from '../source/kind-source.js';
import { isSyncing, type Source } from '../source/source.js';
import type { ControllerPlace } from './defined-reconciler.js';

/** A source of a definition. */
export interface DefinedSource {
  readonly source: Source;
  /** `for`: of the controller's own kind. `reads`: nothing comes of it, as of what is read or indexed. */
  readonly role: 'for' | 'watches' | 'reads';
}

interface PlacedSource extends DefinedSource {
  /** The source as the controller runs it. */
  readonly watched: Source;
  /** The signal by which it ends, once it is started; see {@link bounded}. Undefined on the controller's own API server. */
  readonly started: Promise<AbortSignal> | undefined;
}

/** How the sources of one place continue as those of another definition. */
export interface SourceChange {
  /** Those that have to be started. */
  readonly fresh: readonly PlacedSource[];
  /** Has the new sources in place of the old ones; nothing fails, and nothing is awaited. */
  commit(): void;
  /** Stops what is no longer used: call it when no reconcile of the old definition reads any more. */
  release(): void;
  /** The old sources stay. */
  undo(): void;
}

/** The sources of a controller on one API server. */
export class PlacedSources {
  readonly place: ControllerPlace;
  readonly #controller: Controller;
  /** Until when it works there, if that may end before the controller does: then it is not waited for. */
  readonly #signal: AbortSignal | undefined;
  #current: readonly PlacedSource[];
  /** Ends waits for sources that others have replaced. */
  #changed = new AbortController();

  constructor(
    controller: Controller,
    place: ControllerPlace,
    sources: readonly DefinedSource[],
    options: { readonly signal?: AbortSignal } = {},
  ) {
    this.#controller = controller;
    this.place = place;
    this.#signal = options.signal;
    this.#current = sources.map((source) => this.#placed(source));
  }

  /** Of the place; only of one that was joined. */
  get signal(): AbortSignal {
    return this.#signal ?? this.#controller.stopping;
  }

  get isJoined(): boolean {
    return this.#signal !== undefined;
  }

  /** `takesEffect`: of sources that are started beside those of another definition; see `SourceOptions`. */
  async start(sources: readonly PlacedSource[] = this.#current, takesEffect?: AbortSignal): Promise<void> {
    for (const { watched } of sources) await this.#controller.watch(watched, { takesEffect });
  }

  /**
   * Resolves when all are started and synced, also if others take their places meanwhile; false if the signal of the place
   * has aborted before, or the controller has ended.
   */
  async synced(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const { signal: changed } = this.#changed;
      using either = link(signal, changed);
      try {
        await abortable(Promise.all(this.#current.map((source) => sync(source, either.signal))), either.signal);
        if (!changed.aborted) return true;
      } catch (error) {
        if (!either.signal.aborted) throw error;
      }
    }
    return false;
  }

  /** Handles the objects again whose keys match. */
  async replay(
    roles: readonly DefinedSource['role'][],
    matches: (key: Request) => boolean,
    options: ReplayOptions,
  ): Promise<void> {
    const meant = this.#current.filter(({ role, source }) => roles.includes(role) && isReplaying(source));
    // Its own objects come first.
    for (const { source } of meant.sort((a, b) => Number(b.role === 'for') - Number(a.role === 'for'))) {
      if (isReplaying(source)) await source.replay(matches, options);
    }
  }

  /** Pairs the sources with those of another definition by name; see `Source.adopt`. */
  changeTo(sources: readonly DefinedSource[]): SourceChange {
    const old = new Set(this.#current);
    const fresh: PlacedSource[] = [];
    const adoptions: (() => void)[] = [];
    const next = sources.map((defined) => {
      const { source, role } = defined;
      for (const known of old) {
        const adoption = known.source.name === source.name ? known.source.adopt?.(source) : undefined;
        if (adoption === undefined) continue;
        old.delete(known);
        adoptions.push(adoption);
        return { ...known, role };
      }
      const placed = this.#placed(defined);
      fresh.push(placed);
      return placed;
    });
    const leaving: PlacedSource[] = [];
    return {
      fresh,
      commit: () => {
        for (const adopt of adoptions) adopt();
        this.#current = next;
        this.#changed.abort(new Removed('the sources were replaced'));
        this.#changed = new AbortController();
        for (const source of old) {
          if (silence(source.source)) leaving.push(source);
          else this.#controller.unwatch(source.watched);
        }
      },
      release: () => {
        for (const { watched } of leaving) this.#controller.unwatch(watched);
      },
      undo: () => {
        for (const { watched } of fresh) this.#controller.unwatch(watched);
      },
    };
  }

  #placed({ source, role }: DefinedSource): PlacedSource {
    if (this.#signal === undefined) return { source, role, watched: source, started: undefined };
    const { source: watched, started } = bounded(source, this.#signal);
    return { source, role, watched, started };
  }
}

async function sync({ source, started }: PlacedSource, signal: AbortSignal): Promise<void> {
  await started;
  if (isSyncing(source) && !signal.aborted) await source.waitForSync({ signal });
}

/**
 * A source that ends with another signal, too; whether it is synced is its owner's business. `started`: the signal by which
 * it ends, once it has begun, which may be later; the given one, if that aborts before.
 */
function bounded(
  source: Source,
  signal: AbortSignal,
): { readonly source: Source; readonly started: Promise<AbortSignal> } {
  let resolveOver: (over: AbortSignal) => void = () => {};
  const started = new Promise<AbortSignal>((resolve) => {
    resolveOver = resolve;
  });
  const early = onAbort(signal, () => resolveOver(signal));
  const start: Source['start'] = async (queue, options) => {
    if (signal.aborted) return;
    early[Symbol.dispose]();
    const over = link(options.signal, signal).signal;
    await source.start(queue, { ...options, signal: over });
    resolveOver(over);
  };
  return { source: { name: source.name, start }, started };
}
