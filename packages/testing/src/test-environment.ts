import type { ApiServer, InProcessHandler, ServerSnapshot } from '@riata/apiserver';
import { type ConnectedClient, createClient, type Write } from 'riata/client';
import type { ControllerDefinition } from 'riata/controller';
import { Namespace } from 'riata/kinds';
import type { Addable, Manager, Runnable } from 'riata/manager';
import { type Duration, durationMs, type KindRef, type KubeObject } from 'riata/object';
import type { RestConfig } from 'riata/rest';
import {
  type MemoryLogger,
  memoryLogger,
  type Runtime,
  refuseUnknownOptions,
  seededRandom,
  VirtualClock,
} from 'riata/runtime';
import { Connections } from './connections.js';
import { EndlessWork } from './endless-work.js';
import { type EventuallyOptions, eventuallyIn } from './eventually.js';
import { type ConvergedOptions, convergedOptionNames, expectConverged } from './expect-converged.js';
import { FaultScript } from './faults/fault-script.js';
import type { Identity } from './identity.js';
import { type Definition, definitionName, installDefinitions } from './install-definitions.js';
import { isCreation, MadeObjects } from './made-objects.js';
import { RequestRecorder } from './requests/request-recorder.js';
import { RequestReader } from './requests/request-target.js';
import { type SettleOptions, type SettleParts, settle, settleOptionNames } from './settle.js';
import { type ConnectOptions, connectOptionNames, type TestConnection } from './test-connection.js';
import {
  type InstallableKind,
  type TestEnvironmentOptions,
  testEnvironmentOptionNames,
} from './test-environment-options.js';
import { TestIdentity } from './test-identity.js';
import { type RegisterHandlers, TestManager, type TestManagerOptions } from './test-manager.js';
import { embeddedOptionNames, serverVariable, startTestServer, type TestServer } from './test-server.js';
import { RealTime, type TestTime, VirtualTime } from './test-time.js';
import { WebhookReplicas } from './webhooks/webhook-replicas.js';

/** Real time that work without a pause may take before it counts as endless: `maxRequests` should find it first. */
const busyLimitMs = 60_000;

/**
 * Everything that a test of controllers needs: a server, a client, managers on a virtual clock, a record of all
 * requests, and faults. Works with any test framework.
 *
 * By default all of it is in this process, and time stands still until the test, `settle` or `eventually` moves it: no
 * test sleeps, and the same test makes the same run. `RIATA_TEST_SERVER` chooses another server, in real time.
 *
 * @example
 * await using env = await TestEnvironment.start({ kinds: [Foo] });
 * await env.run(foos);
 * await env.client.create(Foo({ metadata: { namespace: 'default', name: 'a' }, spec: { replicas: 2 } }));
 * await env.settle();
 * await env.expectConverged();
 */
export class TestEnvironment implements AsyncDisposable {
  /** The test's own hands: it is not recorded, and no fault hits it. */
  readonly client: ConnectedClient;
  /** All requests of all managers and connections. */
  readonly requests: RequestRecorder;
  /** The faults to inject. */
  readonly faults: FaultScript;
  /** The log of managers and server, unless another one was given. */
  readonly log: MemoryLogger;
  readonly #server: TestServer;
  readonly #time: TestTime;
  readonly #runtime: Partial<Runtime>;
  readonly #reader: RequestReader;
  readonly #made = new MadeObjects();
  /** Objects that managers have just created by an update or apply, in the words of the record. */
  readonly #created = new Set<string>();
  readonly #connections: Connections;
  readonly #managers = new Set<TestManager>();
  /** Handlers of the test, which end with a reset. */
  readonly #handlers = new Set<Disposable>();
  readonly #work: EndlessWork;
  /** Where webhooks are called without a socket. */
  readonly #webhooks: WebhookReplicas | undefined;
  /** Definitions that were not there before. */
  #installed: readonly Definition[] = [];
  #started = 0;
  readonly #startedAt: number;
  #ended: Promise<void> | undefined;

  /** Starts a server, or connects to one, and installs the kinds. A few milliseconds for the in-process one. */
  static async start(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
    refuseUnknownOptions('TestEnvironment.start', options, testEnvironmentOptionNames);
    refuseUnknownOptions('TestEnvironment.start: embedded', options.embedded, embeddedOptionNames);
    const { kinds = [], crds = [], seed = 1, startTime: start } = options;
    const choice = options.server ?? (process.env[serverVariable] || 'in-process');
    const log = memoryLogger('debug');
    const random = seededRandom(seed);
    const isReal = options.time === 'real';
    const time = isReal ? new RealTime() : new VirtualTime(new VirtualClock({ start, busyLimitMs }));
    const { embedded = {} } = options;
    const server = await startTestServer({ choice, time, random, embedded, log: options.log ?? log });
    const runtime = { clock: server.time.clock, random, log: options.log ?? log };
    const env = new TestEnvironment(server, runtime, log, kinds);
    try {
      env.#installed = await env.#install([...kinds, ...crds]);
      env.keep();
      if (server.storage !== undefined) env.#made.observe(server.storage);
    } catch (error) {
      await env.stop();
      throw error;
    }
    return env;
  }

  private constructor(server: TestServer, runtime: Partial<Runtime>, log: MemoryLogger, kinds: readonly KindRef[]) {
    this.#server = server;
    this.#time = server.time;
    this.#startedAt = server.time.clock.now();
    this.#runtime = runtime;
    this.#reader = new RequestReader(kinds);
    this.log = log;
    if (server.isInProcess && server.embedded !== undefined) this.#webhooks = new WebhookReplicas(server.embedded);
    this.requests = new RequestRecorder();
    this.#work = new EndlessWork({
      ...{ clock: server.time.clock, requests: this.requests, managers: () => this.#managers },
    });
    this.#connections = new Connections({
      ...{ server, runtime, reader: this.#reader, requests: this.requests },
      faults: (request) => this.faults.decide(request),
      onCreated: ({ verb, object }) => {
        // A creation is known as such.
        if (server.storage === undefined && verb !== 'create') this.#created.add(object);
      },
    });
    this.faults = new FaultScript({
      ...{ control: server.control, isInProcess: server.isInProcess, time: server.time, reader: this.#reader },
      cut: (options) => this.#connections.cut(options),
    });
    this.client = createClient(server.config, { runtime, onWrite: (write) => this.#noteCreated(write) });
  }

  /** For clients of the test's own, and for programs that are started. */
  get config(): RestConfig {
    return this.#server.config;
  }

  /** The embedded server; undefined on a real one. */
  get server(): ApiServer | undefined {
    return this.#server.embedded;
  }

  /** The clock of managers and server. A `VirtualClock` on the in-process server, otherwise the machine's. */
  get clock(): TestTime['clock'] {
    return this.#time.clock;
  }

  /** Whether time is virtual: all is in this process, and time moves when the test says. */
  get isVirtual(): boolean {
    return this.#time.isVirtual;
  }

  /** Managers that were started and not stopped, in the order of their start. */
  get managers(): readonly TestManager[] {
    return [...this.#managers].filter(({ exit }) => exit?.reason !== 'stopped');
  }

  /** Runs controllers and webhooks in a new manager. */
  run(...definitions: readonly (ControllerDefinition | Runnable | Addable)[]): Promise<TestManager> {
    return this.startManager({ run: definitions });
  }

  /**
   * Runs shared handlers (lasso's way), or typed controllers over them (wrangler's), in a new manager: `register` is given
   * a factory on the environment's clock and connection, and everything here works on them as on controllers.
   *
   * @example
   * await env.runHandlers((factory, { signal }) => restartFrontends(factory, key, { signal }));
   * await env.runHandlers((factory, { signal }) => runApps(new Controllers(factory), { signal }));
   */
  async runHandlers(register: RegisterHandlers, options: TestManagerOptions = {}): Promise<TestManager> {
    const manager = await this.startManager(options);
    await this.#time.drive(manager.addHandlers(register), 'runHandlers');
    await this.#time.quiet();
    return manager;
  }

  /** Starts a manager, as a replica of an operator. Several may run at once. */
  async startManager(options: TestManagerOptions = {}): Promise<TestManager> {
    this.#refuseEnded();
    this.#started += 1;
    const name = options.name ?? `manager-${this.#started}`;
    const connection = this.#connections.open({ name, as: options.as }, (request) =>
      this.#work.allows(request) ? this.faults.decide(request) : { stall: 'request' },
    );
    const clientOptions = { ...options.clientOptions, onWrite: (write: Write) => this.#noteCreated(write) };
    const manager = await TestManager.start({
      ...{ name, connection, time: this.#time, runtime: this.#runtime, work: this.#work },
      ...{ webhookFaults: this.faults.webhooks, listener: this.#webhooks?.listener },
      options: { ...options, clientOptions },
    });
    this.#managers.add(manager);
    await this.#time.quiet();
    // From here on its webhooks guard what the test does.
    if (manager.hasWebhooks) await this.eventually(() => manager.checkWebhooks(), { what: 'webhooks' });
    return manager;
  }

  /** A way to the server for code that is no manager, with a record of its requests, faults, and an end. */
  connect(options: ConnectOptions = {}): TestConnection {
    refuseUnknownOptions('TestEnvironment.connect', options, connectOptionNames);
    this.#refuseEnded();
    const isOfCluster = () => this.managers.some(({ manager }) => leadsToCluster(manager, connection.config));
    const connection: TestConnection = this.#connections.open(options, (request) =>
      !isOfCluster() || this.#work.allows(request) ? this.faults.decide(request) : { stall: 'request' },
    );
    return connection;
  }

  /**
   * A user other than the administrator (controller-runtime's `AddUser`): roles decide what it may do. A ServiceAccount
   * need not exist. On a real cluster, the administrator must be allowed to impersonate.
   *
   * @example
   * const robot = env.as({ serviceAccount: 'robot', namespace: 'shop' });
   * await expect(robot.client.list(Secret, { namespace: 'shop' })).rejects.toThrow('forbidden');
   * await robot.run(foos);
   */
  as(identity: Identity): TestIdentity {
    this.#refuseEnded();
    return new TestIdentity(identity, {
      connect: (options) => this.connect({ ...options, as: identity }),
      startManager: (options) => this.startManager({ ...options, as: identity }),
    });
  }

  /**
   * Answers what the embedded server sends to a URL, in this process and without a socket: calls of admission and
   * conversion webhooks, and requests to aggregated API servers. A Service is addressed as `https://NAME.NAMESPACE.svc`
   * and need not exist. Ends with the next reset, or when it is disposed.
   *
   * @example
   * env.handle('https://hooks.shop.svc/validate', admissionWebhook(({ object }) => ({ allowed: object !== null })));
   */
  handle(url: string, handler: InProcessHandler): Disposable {
    this.#refuseEnded();
    const handling = this.#embedded('handle').handle(url, handler);
    this.#handlers.add(handling);
    return handling;
  }

  /**
   * What the embedded server holds now, once its controllers are idle: for the option `embedded.from` of other
   * environments. Managers are not waited for; `settle` does that.
   */
  async snapshot(): Promise<ServerSnapshot> {
    const server = this.#embedded('snapshot');
    await this.#idle();
    return server.snapshot();
  }

  /** Has the server serve more kinds; they go with the next reset. Resolves when it does. */
  async install(...what: readonly (InstallableKind | Definition)[]): Promise<void> {
    for (const crd of await this.#install(what)) this.#made.add({ ...crd, name: definitionName(crd) });
  }

  /** Keeps all objects that were created so far when the environment is reset: for objects that several tests share. */
  keep(): void {
    this.#made.forgetAll();
  }

  /** Makes an empty namespace, and gives its name. */
  async namespace(prefix = 'test'): Promise<string> {
    const made = await this.client.create(Namespace({ metadata: { generateName: `${prefix}-` } }));
    await this.#idle();
    return made.metadata.name;
  }

  /**
   * Resolves when managers have no pending work: informers are up to date, no key is queued or due within the
   * `horizon`, no reconcile runs. Time moves as far as that needs. Rejects, naming the pending work, if it takes too
   * long, if a manager has failed, or if requests come without end.
   */
  async settle(options?: SettleOptions): Promise<void> {
    refuseUnknownOptions('settle', options, settleOptionNames);
    return settle(this.#parts(), options);
  }

  /**
   * Settles, reconciles every object of every controller again, and rejects if that makes a single write, naming
   * object, write and controller; also if the last reconcile of an object failed. A controller that passes writes
   * nothing in a steady state.
   */
  async expectConverged(options?: ConvergedOptions): Promise<void> {
    refuseUnknownOptions('expectConverged', options, convergedOptionNames);
    return expectConverged(this.#parts(), options);
  }

  /**
   * Asks again and again, time moving meanwhile, until `probe` neither throws nor gives false: assertions of any framework
   * can stand in it. Resolves to what it gave; rejects with the last failure.
   */
  eventually<T>(probe: () => T | Promise<T>, options?: EventuallyOptions): Promise<Exclude<T, false>> {
    return eventuallyIn(this.#parts(), probe, options);
  }

  /** Lets time pass, and all happen that is due meanwhile. In real time it waits. */
  async advance(by: Duration): Promise<void> {
    await this.#time.advance(durationMs(by, 'advance'));
    this.#work.refuseSpinning('advance');
  }

  /**
   * Back to the start, or to the last {@link keep}, for the next test: stops all managers, closes connections, removes all
   * objects and definitions made since, finalizers or not, ends all faults and handlers, forgets requests and log. The
   * kinds of the environment stay installed; time does not go back. On a cluster that is not ours, only what the test and its managers
   * have made is removed.
   */
  async reset(): Promise<void> {
    for (const handler of this.#handlers) handler[Symbol.dispose]();
    this.#handlers.clear();
    await this.faults.repair();
    await this.#stopManagers();
    await this.#removeMade();
    this.requests.clear();
    this.log.clear();
  }

  /** Stops managers and server. Nothing is left running; on a real cluster, all created objects are removed. */
  stop(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #end(): Promise<void> {
    try {
      await this.faults.repair();
      await this.#stopManagers();
      if (!this.#server.isThrownAway) {
        for (const crd of this.#installed) this.#made.add({ ...crd, name: definitionName(crd) });
        await this.#removeMade();
      }
    } finally {
      await this.#time.drive(this.client.close(), 'the end of the client');
      await this.#server[Symbol.asyncDispose]();
    }
  }

  #embedded(method: string): ApiServer {
    const { embedded } = this.#server;
    if (embedded !== undefined) return embedded;
    throw new Error(`TestEnvironment.${method}: the server must be an embedded one ('in-process' or 'https')`);
  }

  #refuseEnded(): void {
    if (this.#ended !== undefined) throw new Error('the environment has stopped: start another one for each test');
  }

  /** Returns the new ones. */
  async #install(what: readonly (InstallableKind | Definition)[]): Promise<readonly Definition[]> {
    const crds = what.map((each) => {
      if ('crd' in each) return each.crd();
      if ('spec' in each) return each;
      const { kind } = each as KindRef;
      throw new TypeError(
        `kinds and crds: expected kinds of defineKind, and CustomResourceDefinitions; ${kind} is neither, and built-in kinds ` +
          'are served anyway',
      );
    });
    this.#reader.learn(crds.map(({ spec: { group, names } }) => ({ group, plural: names.plural, kind: names.kind })));
    const installed = await installDefinitions(this.client, crds, (probe) => this.eventually(probe));
    await this.#idle();
    return installed;
  }

  async #stopManagers(): Promise<void> {
    const managers = [...this.#managers];
    this.#work.lift();
    await Promise.all(managers.map((manager) => manager.stop()));
    for (const manager of managers) this.#managers.delete(manager);
    await this.#connections.close();
  }

  async #removeMade(): Promise<void> {
    const { storage, emptiesNamespaces } = this.#server;
    const removing = this.#made.remove(this.client, {
      ...{ hasGone: storage !== undefined, emptiesNamespaces, clock: this.clock, idle: () => this.#serverIdle() },
    });
    await this.#time.drive(removing, 'reset');
  }

  async #idle(): Promise<void> {
    await this.#time.drive(this.#serverIdle(), 'the server');
  }

  async #serverIdle(): Promise<void> {
    await this.#server.embedded?.idle();
  }

  /** On a shared cluster, other objects are not touched. */
  #noteCreated(write: Write): void {
    if (this.#server.storage !== undefined || !isCreation(write, this.#startedAt, this.#created)) return;
    this.#made.addObject(write.answer as KubeObject);
  }

  #parts(): SettleParts {
    return {
      ...{ managers: this.managers, client: this.client, time: this.#time, requests: this.requests },
      // One that is this very server is looked at by the test's own hands, as a look is no request of the manager.
      clientOf: ({ config, client }) => (this.#connections.has(config) ? this.client : client),
      serverIdle: () => this.#serverIdle(),
      limit: (requests) => this.#work.limit(requests),
    };
  }
}

/** Whether a manager has a cluster that it reaches this way. */
function leadsToCluster({ clusters }: Manager, { transport }: RestConfig): boolean {
  return clusters.names.some((name) => clusters.get(name)?.config.transport === transport);
}
