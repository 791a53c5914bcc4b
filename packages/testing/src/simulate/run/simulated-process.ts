import { TestManager, type TestManagerOptions, type TestManagerParts } from '../../test-manager.js';
import { ProcessLine, type ProcessLineParts } from './process-line.js';
import type { RunningReconcile } from './run-observer.js';
import { SimulatedClock } from './simulated-clock.js';

/** What a {@link SimulatedProcess} is made of. */
export interface SimulatedProcessParts
  extends Omit<TestManagerParts, 'connection' | 'options' | 'listener'>,
    Omit<ProcessLineParts, 'inner'> {
  readonly connect: () => TestManagerParts['connection']['config'];
  readonly listener: TestManagerParts['listener'];
  readonly options: (clock: SimulatedClock) => TestManagerOptions;
}

/**
 * One process of an operator. It can die at any moment: from then on none of its code runs, as no request is answered, no
 * timer fires and no wait ends.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly manager: TestManager;
  readonly line: ProcessLine;
  readonly #clock: SimulatedClock;
  readonly #serving: AbortController;
  #isDead = false;

  private constructor(
    manager: TestManager,
    { line, clock, serving }: { line: ProcessLine; clock: SimulatedClock; serving: AbortController },
  ) {
    this.name = manager.name;
    this.manager = manager;
    this.line = line;
    this.#clock = clock;
    this.#serving = serving;
  }

  /** `onLine` is called before anything is sent. */
  static async start(
    parts: SimulatedProcessParts,
    onLine: (line: ProcessLine, kill: () => void) => void,
  ): Promise<SimulatedProcess> {
    const config = parts.connect();
    const clock = new SimulatedClock(parts.time.clock);
    const line = new ProcessLine({ ...parts, inner: config.transport });
    const serving = new AbortController();
    const { listener } = parts;
    let started: SimulatedProcess | undefined;
    let isKilled = false;
    onLine(line, () => {
      isKilled = true;
      started?.kill();
      line.kill();
      clock.kill();
    });
    const manager = await TestManager.start({
      ...parts,
      runtime: { ...parts.runtime, clock },
      connection: { config: { ...config, transport: line }, cut: () => {}, close: () => line.close() },
      // A dead process serves no webhooks.
      listener: listener && { listen: (serve) => listener.listen(serve, { signal: serving.signal }) },
      options: parts.options(clock),
    });
    started = new SimulatedProcess(manager, { line, clock, serving });
    if (isKilled) started.kill();
    return started;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  kill(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.line.kill();
    this.#clock.kill();
    this.#serving.abort();
  }

  /** Waits until the API server calls the webhooks that it serves; `advance` lets time pass. */
  async awaitWebhooks(advance: () => Promise<void>): Promise<void> {
    for (let tries = 0; this.manager.hasWebhooks && !this.#isDead; tries += 1) {
      try {
        this.manager.checkWebhooks();
        return;
      } catch (error) {
        if (tries > 300) throw error;
        await advance();
      }
    }
  }

  /** Why it is not done; undefined if nothing is pending. */
  get pending(): string | undefined {
    const { manager, notStarted, controllers } = this.manager;
    const [waiting] = notStarted;
    if (waiting !== undefined) return `controller "${waiting}" has not started`;
    for (const { informers } of manager.cache.health) {
      for (const { name, phase, handlers } of informers) {
        if (phase !== 'watching' && phase !== 'idle' && phase !== 'stopped')
          return `the informer of ${name} is ${phase}`;
        if (handlers.some(({ pending }) => pending > 0)) return `handlers have not seen all changes of ${name}`;
      }
    }
    for (const { name, phase, queued, active } of controllers) {
      if (phase === 'syncing' || phase === 'idle') return `controller "${name}" is ${phase}`;
      if (phase === 'running' && queued > 0) return `controller "${name}": ${queued} queued`;
      if (active.length > 0) return `controller "${name}" is reconciling`;
    }
    return undefined;
  }

  get running(): readonly RunningReconcile[] {
    return this.manager.controllers.flatMap(({ name, active }) => active.map(({ key }) => ({ controller: name, key })));
  }

  /** Milliseconds until its next key is due. */
  get nextDelayedMs(): number {
    return Math.min(...this.manager.controllers.map(({ nextDelayedMs }) => nextDelayedMs ?? Number.POSITIVE_INFINITY));
  }
}
