import type { ControllerDefinition } from 'riata/controller';
import type { Addable, Runnable } from 'riata/manager';
import { type ClusterKey, type Duration, type KubeObject, keyId, type ObjectKey } from 'riata/object';
import type { TransportRequest } from 'riata/rest';
import type { Clock } from 'riata/runtime';
import type { RequestTarget } from '../../requests/request-target.js';
import type { RunBudget } from '../../test-manager.js';
import type { History, HistoryEntry } from './history.js';
import type { LineObserver, WriteFate } from './process-line.js';
import type { ViolatedRule } from './run-failure.js';
import { appliesTo, type RunEvent, type RunResult, type RunWrite } from './run-result.js';
import { type FaultKind, type FaultPlace, faultPlaces, type RunPlan, type SimulatedFault } from './simulated-fault.js';
import type { StoryStep } from './story-line.js';
import type { HoldReason, WatchedEvent } from './watch-gate.js';

/** What a {@link RunObserver} is made of. */
export interface RunObserverParts {
  readonly plan: RunPlan;
  readonly history: History;
  readonly clock: Clock;
  readonly maxReconciles: number;
  readonly fail: (rule: ViolatedRule, message: string) => void;
  /** Lets all events arrive that are held back. */
  readonly release: () => void;
  /** The reconciles that run in a process now. */
  readonly running: (process: string) => readonly RunningReconcile[];
  /** The stored object. */
  readonly find: (kind: string, group: string, key: ObjectKey) => KubeObject | undefined;
}

/** A controller of the run. */
interface KnownController {
  readonly name: string;
  readonly kind: string;
}

/** A reconcile that runs now. */
export interface RunningReconcile {
  readonly controller: string;
  readonly key: ClusterKey;
}

/** Counts the writes, events and steps of a run, has the planned faults happen, and keeps the history. */
export class RunObserver implements RunBudget {
  readonly writes: RunWrite[] = [];
  readonly events: RunEvent[] = [];
  readonly happened: SimulatedFault[] = [];
  readonly advances: RunResult['advances'][number][] = [];
  reconciles = 0;
  /** Replicas that joined. */
  joined = 0;
  isTearingDown = false;
  readonly #parts: RunObserverParts;
  readonly #story = new Map<string, KubeObject>();
  /** By field manager. */
  readonly #controllers = new Map<string, KnownController>();
  /** What each controller reconciles, by name. */
  readonly #running = new Map<string, ClusterKey>();
  readonly #sent = new WeakMap<TransportRequest, { readonly write: RunWrite; readonly entry: HistoryEntry }>();
  readonly #held = new Map<HoldReason, number>();
  #steps = 0;
  #lagAt: number | undefined;
  /** Where processes restart, when all that follows from the event is done. */
  #travelTo: { readonly revision: number; readonly event: string } | undefined;
  /** How many writes there were when events began to be held back. */
  #heldAt: number | undefined;
  /** Whether writes take time, so that what was held back can arrive between them. */
  #isSlow = false;
  #happenedAt = -1;

  constructor(parts: RunObserverParts) {
    this.#parts = parts;
  }

  /** Remembers which controllers there are. */
  around<D extends ControllerDefinition | Runnable | Addable>(definitions: readonly D[]): readonly D[] {
    for (const each of definitions) {
      if (!('reconciler' in each)) continue;
      const { name, kind, options } = each as ControllerDefinition;
      this.#controllers.set(options.fieldManager ?? name, { name, kind: kind.kind });
    }
    return definitions;
  }

  allowsRun({ controller, key }: { readonly controller: string; readonly key: ClusterKey }): boolean {
    this.#running.set(controller, key);
    this.reconciles += 1;
    const { maxReconciles, fail } = this.#parts;
    if (this.reconciles <= maxReconciles) return true;
    fail(
      'bounded reconciles',
      `${maxReconciles} reconciles, and no end; the last one is of ${keyId(key)}, by "${controller}"`,
    );
    return false;
  }

  /** What the story has created and not deleted, newest first. */
  storyObjects(): readonly KubeObject[] {
    return [...this.#story.values()].reverse();
  }

  /** The story lets time pass. */
  onAdvance(by: Duration): void {
    this.advances.push({ after: this.#steps, by });
    this.note('story', 'advance', `lets ${by} pass`);
  }

  /** Gives true if all processes go down now. */
  onStep({ target }: StoryStep, number: number): boolean {
    this.#steps = number;
    const text = `${target.verb} ${target.object}`;
    this.#add({ who: this.isTearingDown ? 'clean-up' : 'story', what: 'step', number, text });
    return this.#take('step', number) !== undefined;
  }

  onStepAnswer({ target, code }: StoryStep, number: number, created: unknown): void {
    const entry = this.#parts.history.entries.findLast((each) => each.what === 'step' && each.number === number);
    if (entry !== undefined && code !== undefined) entry.code = code;
    if (created !== undefined) this.#story.set(String(number), created as KubeObject);
    if (target.verb !== 'delete' || code === undefined || code >= 300) return;
    for (const [id, { kind, metadata }] of this.#story) {
      if (kind === target.kind && metadata.name === target.name && metadata.namespace === target.namespace) {
        this.#story.delete(id);
      }
    }
  }

  /** The step of the story during which events began to be held back. */
  holdStep(reason: HoldReason): number {
    return this.#held.get(reason) ?? 0;
  }

  /** Whether processes restart in the past now; gives the event that they will not know any more. */
  travel(): string | undefined {
    if (this.#travelTo === undefined) return undefined;
    const { revision, event } = this.#travelTo;
    this.#travelTo = undefined;
    this.#lagAt = revision;
    return event;
  }

  /** The revision at which the next process's server lags behind. */
  takeLag(): number | undefined {
    const lagAt = this.#lagAt;
    if (lagAt !== undefined) this.#heldAt = this.writes.length;
    this.#lagAt = undefined;
    return lagAt;
  }

  /** Whether a fault has happened at this write or later. */
  happenedSince(write: number): boolean {
    return this.#happenedAt >= write;
  }

  note(who: string, what: HistoryEntry['what'], text: string): void {
    this.#add({ who, what, text });
  }

  /** A call of a webhook that this process serves gets a fault of the plan. */
  onWebhookFault(process: string, webhook: string, call: number): void {
    const fault = this.#take('webhook', call);
    const what = fault === 'slow-webhook' ? 'answers five seconds late' : 'breaks off';
    this.note(process, 'fault', `its webhook "${webhook}" ${what} (call ${call})`);
  }

  /** Watches one process; `kill` ends it at once. */
  ofProcess(name: string, kill: () => void): LineObserver {
    let isCutOff = false;
    return {
      onWrite: (target, request) => {
        if (isCutOff) return 'cut-off';
        const fate = this.#onWrite(name, target, request);
        if (fate === 'crash-before' || fate === 'crash-after') kill();
        if (fate === 'cut-off') isCutOff = true;
        return fate;
      },
      onAnswer: (request, code) => this.#onAnswer(request, code),
      onEvent: (target, event) => this.#onEvent(name, target, event),
      onSeen: (target, event) => {
        this.#add({ who: name, what: 'event', text: `sees ${event.type} ${objectOf(target, event)}` });
      },
      onListed: (target, count) => this.#add({ who: name, what: 'list', text: `lists ${count} ${target.kind}` }),
    };
  }

  #onWrite(process: string, target: RequestTarget, request: TransportRequest): WriteFate {
    if (isAside(target)) return 'pass';
    const { controller = '', key } = this.#actorOf(process, request) ?? {};
    const who = controller === '' ? process : `${process} ${controller}`;
    const { verb, object } = target;
    const write: RunWrite = {
      verb,
      object,
      controller,
      step: this.#steps,
      isConditional: isConditional(target, request),
    };
    this.writes.push(write);
    const number = this.writes.length;
    const entry = this.#add({ who, what: 'write', number, text: `${verb} ${object}` });
    this.#sent.set(request, { write, entry });
    if (key !== undefined) this.#checkOwner(process, target, { controller, key });
    if (this.#heldAt !== undefined && number - this.#heldAt > mostHeldWrites) {
      this.#heldAt = undefined;
      this.#isSlow = true;
      this.#parts.release();
    }
    const fault = this.#take('write', number, (kind) => appliesTo(kind, write));
    if (fault === undefined) return this.#isSlow ? 'slow' : 'pass';
    entry.isUnsent = unsent.has(fault);
    switch (fault) {
      case 'crash-before':
        this.note(process, 'crash', 'dies before this write is sent');
        return fault;
      case 'crash-after':
        this.note(process, 'crash', 'dies after this write was sent');
        return fault;
      case 'lost-answer':
        this.note(process, 'fault', 'does not get the answer to this write');
        return fault;
      case 'conflict':
        this.note(process, 'fault', 'gets 409 Conflict for this write');
        return fault;
      case 'error':
        this.note(process, 'fault', 'gets 500 for this write');
        return fault;
      case 'leader-change':
        this.note(process, 'fault', 'is cut off from the API server from this write on, until it has lost its lease');
        return 'cut-off';
      default:
        this.joined += 1;
        this.note(process, 'fault', 'gets another replica beside it');
        return 'pass';
    }
  }

  /**
   * The reconcile that sends a write. A deletion names no field manager, and shared handlers have that of their process:
   * it is the only reconcile that runs, then.
   */
  #actorOf(process: string, { path }: TransportRequest): Partial<RunningReconcile> | undefined {
    const [, manager = ''] = /[?&]fieldManager=([^&]*)/.exec(path) ?? [];
    const known = this.#controllers.get(decodeURIComponent(manager));
    if (known === undefined) {
      const [only, ...others] = this.#parts.running(process);
      return others.length === 0 ? only : undefined;
    }
    const key = this.#running.get(known.name);
    return { controller: known.name, ...(key !== undefined && { key }) };
  }

  #onAnswer(request: TransportRequest, code: number): void {
    const sent = this.#sent.get(request);
    if (sent === undefined) return;
    sent.write.code = code;
    sent.entry.code = code;
  }

  #onEvent(process: string, target: RequestTarget, event: WatchedEvent): { hold?: HoldReason } {
    if (isAside(target)) return {};
    const object = objectOf(target, event);
    this.events.push({ type: event.type, object });
    const fault = this.#take('event', this.events.length);
    if (fault === undefined) return {};
    if (fault === 'stale') {
      this.#travelTo = { revision: Number(event.resourceVersion) - 1, event: `${event.type} ${object}` };
      return {};
    }
    const hold = fault as HoldReason;
    this.#held.set(hold, this.#steps);
    this.#heldAt = this.writes.length;
    this.note(process, 'fault', `${holdWords[hold] ?? hold}: ${event.type} ${object}`);
    return { hold };
  }

  /** An object that another one controls is the business of that one. */
  #checkOwner(process: string, target: RequestTarget, { controller, key }: RunningReconcile): void {
    const { kind, group, namespace, name, verb, object, subresource } = target;
    const by = [...this.#controllers.values()].find((each) => each.name === controller)?.kind;
    if (name === undefined || verb === 'create' || kind === by || subresource !== undefined) return;
    const owner = this.#parts
      .find(kind, group, { ...(namespace !== undefined && { namespace }), name })
      ?.metadata.ownerReferences?.find((each) => each.controller);
    if (owner === undefined || owner.kind !== by || owner.name === key.name) return;
    // Of several that run at once, it may be the right one.
    const running = this.#parts.running(process).filter((each) => each.controller === controller);
    if (running.some((each) => each.key.name === owner.name)) return;
    this.#parts.fail(
      'one owner',
      `${verb} ${object} by a reconcile of ${by} ${keyId(key)}, but its controller is ${owner.kind} ${owner.name}`,
    );
  }

  /** A random or shifted point may be one where the fault can't happen. */
  #take(place: FaultPlace, at: number, applies: (kind: FaultKind) => boolean = () => true): FaultKind | undefined {
    const fault = this.#parts.plan.faults.find(
      ({ kind, at: planned }) => faultPlaces[kind] === place && planned === at && applies(kind),
    );
    if (fault === undefined || this.happened.includes(fault)) return undefined;
    this.happened.push(fault);
    this.#happenedAt = this.writes.length;
    return fault.kind;
  }

  #add(entry: Omit<HistoryEntry, 'atMs'>): HistoryEntry {
    return this.#parts.history.add({ atMs: this.#parts.clock.monotonic(), ...entry });
  }
}

/**
 * A controller that acts on an outdated view may be undone again and again, for which no time passes here: events that
 * are held back arrive after this many writes.
 */
const mostHeldWrites = 6;

/** The server gets no write that one of these hits. */
const unsent: ReadonlySet<FaultKind> = new Set(['crash-before', 'conflict', 'error', 'leader-change']);

const holdWords: Partial<Record<HoldReason, string>> = {
  reordered: 'gets this event after those of other kinds',
  late: 'gets this event late, after the next step',
  missed: 'never gets this event, as it is compacted away',
};

/** Leases and Events say nothing about what controllers do. */
function isAside({ kind, group }: RequestTarget): boolean {
  return group === 'coordination.k8s.io' || kind === 'Event' || kind === '';
}

function isConditional({ verb }: RequestTarget, { body = '' }: TransportRequest): boolean {
  if (verb === 'update') return true;
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  return (verb === 'patch' || verb === 'delete') && text.includes('"resourceVersion"');
}

function objectOf({ kind }: RequestTarget, { namespace, name }: WatchedEvent): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
