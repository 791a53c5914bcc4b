import { FailingObjects } from '../cache/store/failing-objects.js';
import { failureFields, readableError } from '../controller/loop/failure-fields.js';
import { type FailingSourceObject, SourceFailures } from '../controller/source/source-failures.js';
import { APIService, CustomResourceDefinition } from '../kinds/index.js';
import { isConditionTrue } from '../object/conditions.js';
import { type Duration, durationMs } from '../object/duration.js';
import { formatGvk, type GroupVersionKind } from '../object/gvk.js';
import type { KindRef } from '../object/kind.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { onAbort } from '../runtime/signals.js';
import { Removed } from '../runtime/stop-reasons.js';
import type { Timer } from '../runtime/time/clock.js';
import { type DynamicHandler, DynamicWatch } from './dynamic-watch.js';
import { type ServedKinds, servedKinds } from './served-kinds.js';
import type { SharedControllerFactory } from './shared-controller-factory.js';
import type { HandlerRegistration } from './shared-controller-handler.js';

/** Selects kinds: by their group (`/\.cattle\.io$/`), or by a function. */
export type KindMatcher = RegExp | ((gvk: GroupVersionKind, kind: KindRef) => boolean);

/** Options of a {@link DynamicController}. */
export interface DynamicControllerOptions {
  /** How long changes are collected before discovery runs. @default '500ms' */
  readonly debounce?: Duration;
  /** Pass the factory's. @default that of the system */
  readonly runtime?: Partial<Runtime>;
}

export const dynamicControllerOptionNames = optionNames<DynamicControllerOptions>({ debounce: true, runtime: true });

/** Delay after a failed discovery, and while an established kind is not served yet. */
const againMs = 1_000;

/** One call of `onChange`. */
interface Subscription {
  readonly matches: (kind: KindRef) => boolean;
  readonly make: (kind: KindRef) => DynamicWatch;
  /** By the kind's full name. */
  readonly watches: Map<string, DynamicWatch>;
  /** Those it is on now. */
  readonly on: Map<string, KindRef>;
  /** Kinds that the matcher fails for, by full name. */
  readonly failing: FailingObjects<KindRef>;
}

/**
 * Registers handlers on kinds that are added and removed at run time (`dynamic.Controller` of lasso, `dynamic.Register`): it
 * watches CustomResourceDefinitions and APIServices, runs discovery, and registers each handler on every kind that it
 * matches, in the server's preferred version. Runs while the factory does.
 *
 * Guarantees: a handler is called with `undefined` for every object that it was called for and that is gone, also when the
 * whole kind is removed. A group whose server does not answer does not count as removed.
 *
 * @example
 * const dynamic = new DynamicController(factory);
 * dynamic.onChange('audit', /\.cattle\.io$/, (kind, key, object) => audit(kind.kind, key, object), { signal });
 */
export class DynamicController {
  readonly #factory: SharedControllerFactory;
  readonly #runtime: Runtime;
  readonly #debounceMs: number;
  readonly #subscriptions = new Map<Subscription, string>();
  readonly #failures: SourceFailures;
  /** By the name of a CustomResourceDefinition, `plural.group`: whether its kind should be served. */
  readonly #defined = new Map<string, 'served' | 'not yet' | 'gone'>();
  /** Kinds that the factory did not handle before. */
  readonly #own = new Set<string>();
  #served: ServedKinds = new Map();
  #started = false;
  #timer: Timer | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(factory: SharedControllerFactory, options: DynamicControllerOptions = {}) {
    refuseUnknownOptions('DynamicController', options, dynamicControllerOptionNames);
    this.#factory = factory;
    this.#runtime = resolveRuntime(options.runtime);
    this.#failures = new SourceFailures('dynamic kinds', this.#runtime);
    this.#debounceMs = durationMs(options.debounce ?? '500ms', 'DynamicController: debounce');
  }

  /** Kinds that handlers are registered on. */
  get kinds(): readonly KindRef[] {
    const all = [...this.#subscriptions.keys()].flatMap(({ on }) => [...on]);
    return [...new Map(all).values()];
  }

  /** Kinds that matchers fail for; each is retried with backoff while the server serves it. */
  get failing(): readonly FailingSourceObject[] {
    return this.#failures.list;
  }

  /** Registers a handler on all kinds that match, now and later, until it is removed or the signal aborts (`OnChange`). */
  onChange(
    name: string,
    matcher: KindMatcher,
    handler: DynamicHandler,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): HandlerRegistration {
    const stop = new AbortController();
    const matches = (kind: KindRef) =>
      typeof matcher === 'function' ? matcher(kind.gvk, kind) : new RegExp(matcher).test(kind.group);
    const make = (kind: KindRef) =>
      new DynamicWatch(kind, {
        ...{ name, handler, factory: this.#factory, runtime: this.#runtime, signal: stop.signal },
        onEnter: (entered) => this.#claim(entered),
        onLeft: (left) => this.#release(left),
      });
    const failing = new FailingObjects<KindRef>(this.#runtime, (id) => this.#follow(subscription, id));
    const subscription: Subscription = { matches, make, watches: new Map(), on: new Map(), failing };
    this.#subscriptions.set(subscription, name);
    const shown = this.#failures.add({ name, cluster: undefined, objects: failing, causesOf: () => [] });
    const remove = async () => {
      stop.abort(new Removed(`handler "${name}" was removed`));
      this.#subscriptions.delete(subscription);
      failing.close();
      shown[Symbol.dispose]();
      const leaving = [...subscription.on.keys()].map((id) => subscription.watches.get(id));
      subscription.on.clear();
      await Promise.all(leaving.map((watch) => watch?.leave({ isGone: false })));
    };
    onAbort(signal, () => void remove());
    if (!stop.signal.aborted) {
      this.#begin();
      this.#follow(subscription);
    }
    return { name, remove, [Symbol.asyncDispose]: remove };
  }

  #begin(): void {
    if (this.#started) return;
    this.#started = true;
    const definitions = this.#factory.forKind(CustomResourceDefinition);
    definitions.registerHandler('dynamic kinds', (key, definition) => {
      const isServed = definition !== undefined && isConditionTrue(definition.status.conditions, 'Established');
      if (definition === undefined) this.#defined.set(key, 'gone');
      else
        this.#defined.set(key, isServed && definition.metadata.deletionTimestamp === undefined ? 'served' : 'not yet');
      this.#schedule(this.#debounceMs);
    });
    this.#factory.forKind(APIService).registerHandler('dynamic kinds', () => this.#schedule(this.#debounceMs));
    // For servers that serve neither: runs discovery once the factory runs.
    definitions.enqueueKey('any');
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined) return;
    const refresh = () => {
      this.#timer = undefined;
      this.#refreshing = (this.#refreshing ?? Promise.resolve()).then(() => this.#refresh());
    };
    this.#timer = this.#runtime.clock.after(ms, refresh, { background: true });
  }

  async #refresh(): Promise<void> {
    if (this.#factory.isStopped) return;
    const { client } = this.#factory.clients;
    const { log } = this.#runtime;
    try {
      const found = await client.discovery.resources({ signal: this.#factory.stopping });
      client.mapper.reset();
      const served = new Map(servedKinds(found, this.#served, this.#factory.clients));
      for (const [name, state] of this.#defined) {
        // Discovery lags behind: a kind whose definition is gone is not served.
        if (state === 'gone') served.delete(name);
        else if (state === 'served' && !served.has(name)) this.#schedule(againMs);
      }
      this.#served = served;
    } catch (error) {
      if (this.#factory.isStopped) return;
      log.warn('discovery failed, retrying', { error });
      this.#schedule(againMs);
      return;
    }
    for (const subscription of this.#subscriptions.keys()) this.#follow(subscription);
  }

  /** Puts a handler on the kinds that match by now. `retried`: a kind that its matcher failed for, which is due. */
  #follow(subscription: Subscription, retried?: string): void {
    const { make, watches, on, failing } = subscription;
    const desired = new Map<string, KindRef>();
    const names = new Set<string>();
    const served = new Set<string>();
    for (const [name, kind] of this.#served) {
      const id = formatGvk(kind.gvk);
      served.add(id);
      const isWaiting = failing.has(id) && id !== retried;
      if (!(isWaiting ? on.has(id) : this.#isMatch(subscription, id, kind))) continue;
      desired.set(id, kind);
      names.add(name);
    }
    for (const [id] of [...failing]) if (!served.has(id)) failing.delete(id);
    this.#failures.changed(this.#subscriptions.get(subscription) ?? '');
    for (const [id, kind] of on) {
      if (desired.has(id)) continue;
      on.delete(id);
      // In another version, its objects are still there.
      void watches.get(id)?.leave({ isGone: !names.has(`${kind.plural}.${kind.group}`) });
    }
    for (const [id, kind] of desired) {
      if (on.has(id)) continue;
      on.set(id, kind);
      let watch = watches.get(id);
      if (watch === undefined) {
        watch = make(kind);
        watches.set(id, watch);
      }
      watch.enter();
    }
  }

  #isMatch(subscription: Subscription, id: string, kind: KindRef): boolean {
    const { matches, failing, on } = subscription;
    try {
      const isMatch = matches(kind);
      failing.recovered(id);
      return isMatch;
    } catch (thrown) {
      const handler = this.#subscriptions.get(subscription) ?? '';
      const failure = failureFields(readableError(thrown));
      const { error, at } = failure;
      this.#failures.count(handler, 'matcher');
      const known = { key: id, function: 'matcher', error, ...(typeof at === 'string' && { at }) };
      const { attempt, retryMs, isNews } = failing.add(id, kind, known);
      const fields = { handler, kind: id, ...failure, attempt, retryMs };
      this.#runtime.log[isNews ? 'error' : 'debug']('kind matcher failed, will be retried', fields);
      // The handler stays where it is.
      return on.has(id);
    }
  }

  #claim(kind: KindRef): void {
    if (!this.#factory.forKind(kind).isUsed) this.#own.add(formatGvk(kind.gvk));
  }

  /** Stops the watch of a kind that has no other handlers. */
  async #release(kind: KindRef): Promise<void> {
    const id = formatGvk(kind.gvk);
    if (!this.#own.has(id) || this.#factory.forKind(kind).handlers.length > 0) return;
    this.#own.delete(id);
    await this.#factory.remove(kind);
  }
}
