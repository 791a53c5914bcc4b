import { type ControllerDefinition, Manager, type ManagerExit, type ManagerOptions } from 'riata';
import { isRestartRequired } from 'riata/controller';
import type { Added, AddedController } from 'riata/manager';
import { installCrds } from 'riata/patterns';
import { isAbortOf } from 'riata/runtime';
import { type AddedWebhook, addWebhook, type WebhookDefinition } from 'riata/webhook';
import type { OperatorDefinition } from '../config/operator.js';
import { isWebhook, type Operator } from '../config/resolve-operator.js';
import { optionsFingerprint } from './options-fingerprint.js';

/** What a {@link RunningOperator} is made of. */
export interface RunningOperatorParts {
  /** The options of the operator's manager here: those of the operator, with the connection and what differs for a person. */
  readonly optionsFor: (operator: Operator) => ManagerOptions | Promise<ManagerOptions>;
  /** Whether a definition is run at all. @default all are */
  readonly accepts?: (definition: OperatorDefinition) => boolean;
  /** Called before a manager is made, and again before another one is. @default nothing is to be done */
  readonly beforeStart?: (operator: Operator) => Promise<void>;
  /** Called if the manager ends by itself. */
  readonly onEnd: (exit: ManagerExit) => void;
}

/** What a change of the code has changed. */
export interface AppliedChange {
  readonly added: readonly string[];
  readonly replaced: readonly string[];
  /** Started anew, as they differ in what is fixed from the start. */
  readonly restarted: readonly string[];
  readonly removed: readonly string[];
  /** The code before runs on. */
  readonly failed: readonly { readonly name: string; readonly error: unknown }[];
  /** Everything was started anew: the options of the manager have changed. */
  readonly isRestart: boolean;
}

interface Part {
  readonly name: string;
  added: Added | AddedController | AddedWebhook;
}

/** The definitions of an operator, run by a manager, and replaced by others while it runs. */
export class RunningOperator implements AsyncDisposable {
  readonly #parts: RunningOperatorParts;
  #manager: Manager | undefined;
  #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  readonly #running = new Map<string, Part>();
  readonly #crds = new Map<string, string>();
  #options = '';

  constructor(parts: RunningOperatorParts) {
    this.#parts = parts;
  }

  /** Of the manager that runs now. */
  get manager(): Manager | undefined {
    return this.#manager;
  }

  /** Runs this operator from now on. Rejects, with the old code running, if a CustomResourceDefinition is refused. */
  async apply(operator: Operator, { signal }: { readonly signal: AbortSignal }): Promise<AppliedChange> {
    const options = await this.#parts.optionsFor(operator);
    const text = optionsFingerprint(operator.options);
    const isRestart = this.#manager !== undefined && text !== this.#options;
    if (isRestart) await this.#end();
    if (this.#manager === undefined) await this.#parts.beforeStart?.(operator);
    const manager = this.#manager ?? (await Manager.create(options));
    try {
      await this.#install(manager, operator, signal);
    } catch (error) {
      if (this.#manager === undefined) await manager[Symbol.asyncDispose]();
      throw error;
    }
    const change = { added: [], replaced: [], restarted: [], removed: [], failed: [], isRestart } as Changing;
    const { accepts = () => true } = this.#parts;
    const all = operator.definitions.map((definition, at) => [idOf(definition, at), definition] as const);
    const next = new Map(all.filter(([, definition]) => accepts(definition)));
    for (const [id, part] of this.#running) {
      if (next.has(id)) continue;
      await part.added.remove();
      this.#running.delete(id);
      change.removed.push(part.name);
    }
    for (const [id, definition] of next) {
      try {
        await this.#put(manager, id, definition, change);
      } catch (error) {
        change.failed.push({ name: nameOf(definition), error });
      }
    }
    if (this.#manager === undefined) this.#start(manager, text);
    return change;
  }

  /** Stops everything in order, and waits for that. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  #start(manager: Manager, options: string): void {
    this.#manager = manager;
    this.#options = options;
    const stop = new AbortController();
    this.#stop = stop;
    this.#ended = manager.run({ signal: stop.signal }).then((exit) => {
      if (stop.signal.aborted) return;
      this.#parts.onEnd(exit);
      // The next change starts another one.
      void this.#forget(manager);
    });
  }

  async #end(): Promise<void> {
    const manager = this.#manager;
    if (manager === undefined) return;
    this.#stop.abort();
    await this.#ended;
    await this.#forget(manager);
  }

  async #forget(manager: Manager): Promise<void> {
    this.#manager = undefined;
    this.#running.clear();
    await manager[Symbol.asyncDispose]();
  }

  async #install(manager: Manager, operator: Operator, signal: AbortSignal): Promise<void> {
    const manifests = new Map(operator.kinds.map((kind) => [kind.crd().metadata.name, kind] as const));
    const changed = [...manifests].filter(([name, kind]) => this.#crds.get(name) !== JSON.stringify(kind.crd()));
    if (changed.length === 0) return;
    await installCrds(
      manager.connection,
      changed.map(([, kind]) => kind),
      { signal, wait: true },
    );
    for (const [name, kind] of changed) this.#crds.set(name, JSON.stringify(kind.crd()));
  }

  async #put(manager: Manager, id: string, definition: OperatorDefinition, change: Changing): Promise<void> {
    const name = nameOf(definition);
    const part = this.#running.get(id);
    if (part === undefined) {
      this.#running.set(id, { name, added: add(manager, definition) });
      change.added.push(name);
      return;
    }
    if ('replace' in part.added) {
      try {
        await part.added.replace(definition as ControllerDefinition & WebhookDefinition);
        change.replaced.push(name);
        return;
      } catch (error) {
        if (!isRestartRequired(error)) throw error;
      }
    }
    await part.added.remove();
    part.added = add(manager, definition);
    // One that cannot be replaced has no state that a person would miss.
    (('replace' in part.added && change.restarted) || change.replaced).push(name);
  }
}

type Changing = { [K in keyof AppliedChange]: AppliedChange[K] extends readonly (infer T)[] ? T[] : AppliedChange[K] };

/** Webhooks by this copy of the package, whose server stays: each build of a workspace may have a copy of its own. */
function add(manager: Manager, definition: OperatorDefinition): Added | AddedController | AddedWebhook {
  return isWebhook(definition) ? addWebhook(manager, definition) : manager.add(definition);
}

function idOf(definition: OperatorDefinition, at: number): string {
  const { name } = definition as { readonly name?: string };
  const sort = 'reconciler' in definition ? 'controller' : isWebhook(definition) ? 'webhook' : 'other';
  return `${sort} ${name ?? at}`;
}

function nameOf(definition: OperatorDefinition): string {
  return (definition as { readonly name?: string }).name ?? 'definition without a name';
}

/** Whether a failure is nothing but the end of the command. */
export function isInterrupted(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (isAbortOf(signal, error) || error === signal.reason);
}
