import { formatTime, type JsonObject } from 'riata/object';
import type { Identity, Logger, Random, Scheduler } from 'riata/runtime';
import type { AdmissionOptions } from './admission/admission.js';
import { AdmissionControl } from './admission/admission-control.js';
import { Aggregation } from './aggregation/aggregation.js';
import { withAvailability } from './aggregation/availability.js';
import { RemoteRequests } from './aggregation/remote-requests.js';
import { TokenAuthenticator } from './authentication/token-authenticator.js';
import type { TokenSigner } from './authentication/token-signer.js';
import type { UserInfo } from './authentication/user-info.js';
import { AccessControl } from './authorization/access-control.js';
import {
  aggregatedClusterRoles,
  defaultClusterRoleBindings,
  defaultClusterRoles,
  defaultRoleBindings,
  defaultRoles,
} from './authorization/default-access.js';
import { reconcileDefaults } from './authorization/reconcile-defaults.js';
import type { ContainerRuntime } from './containers/container-runtime.js';
import { ApiServices } from './controllers/api-services.js';
import { ClusterRoleAggregation } from './controllers/cluster-role-aggregation.js';
import { controllerDeletes } from './controllers/controller-deletes.js';
import { CrdController } from './controllers/crd-controller.js';
import { EventExpiry } from './controllers/event-expiry.js';
import { FlowSchemaStatus } from './controllers/flow-schema-status.js';
import { GarbageCollector } from './controllers/garbage-collector.js';
import { NamespaceController, namespaceGate } from './controllers/namespace-controller.js';
import { PolicyTypeChecking } from './controllers/policy-type-checking.js';
import type { QuotaController } from './controllers/quota-controller.js';
import { ServiceAddresses } from './controllers/service-addresses.js';
import { StorageProtection } from './controllers/storage-protection.js';
import { WorkLoop } from './controllers/work-loop.js';
import { FlowClassifier } from './flow-control/flow-classifier.js';
import { FlowControl } from './flow-control/flow-control.js';
import { writeParts } from './load-write-parts.js';
import { ServerMetrics } from './metrics/server-metrics.js';
import { builtInResources } from './resource/built-in/built-in-resource.js';
import { ownFlowSchemas, ownPriorityLevels } from './resource/built-in/own-flow-control.js';
import {
  type OwnObject,
  ownClientAuthority,
  ownNamespace,
  ownPriorityClasses,
  ownService,
  ownServiceCidr,
  ownTokenTracking,
} from './resource/built-in/own-objects.js';
import { ObjectStore, type SeededObject } from './resource/object-store.js';
import type { Resource } from './resource/resource.js';
import { ResourceLookup } from './resource/resource-lookup.js';
import { ServedResources } from './resource/resource-table.js';
import type { WriteContext } from './resource/write-context.js';
import { noSuchPath } from './status/refusal.js';
import type { Storage, StorageEvent } from './storage/storage.js';
import { Verbs } from './verbs/verbs.js';
import { InProcessHandlers } from './webhook-client/in-process-handlers.js';
import { OutgoingRequests } from './webhook-client/outgoing-requests.js';
import { type ResolveService, ServiceResolver } from './webhook-client/service-resolver.js';
import { WebhookCaller } from './webhook-client/webhook-caller.js';

/** What a {@link ServerCore} works with. */
export interface ServerCoreParts {
  readonly storage: Storage;
  readonly clock: Scheduler;
  readonly random: Random;
  readonly log: Logger;
  /** The administrator's token. */
  readonly token: string;
  /** Tokens of other users. */
  readonly tokens?: Readonly<Record<string, UserInfo>>;
  /** Signs tokens of ServiceAccounts. @default one with a new key */
  readonly signer?: TokenSigner;
  /** What Pods would trust the server by, PEM. */
  readonly rootCertificate: string;
  /** Whether it does what kube-controller-manager does for every kind: empty namespaces, collect garbage. */
  readonly controllers: boolean;
  /** Whether this process runs a scheduler. */
  readonly scheduler: boolean;
  /** Where Services are reached. @default by what is stored of them */
  readonly resolveService?: ResolveService | undefined;
  /** By which aggregated API servers know this one. */
  readonly proxyIdentity: () => Identity;
  /** What runs in containers. @default nothing */
  readonly containers?: ContainerRuntime | undefined;
  /** Which admission plugins run. @default those of kube-apiserver */
  readonly admission?: AdmissionOptions | undefined;
  /** How many requests are executed at once. @default 600 */
  readonly maxInflight?: number;
  /** Whether default roles of a used storage are completed, as kube-apiserver does when it starts. */
  readonly reconciles: boolean;
}

/** The server without its front: resources, the verbs on them, and its controllers. */
export class ServerCore {
  readonly storage: Storage;
  readonly served: ServedResources;
  readonly verbs: Verbs;
  readonly flowControl: FlowControl;
  readonly access: AccessControl;
  readonly metrics: ServerMetrics;
  /** Who answers in this process what the server sends to others. */
  readonly handlers = new InProcessHandlers();
  readonly #outgoing = new OutgoingRequests(this.handlers);
  /** Calls webhooks. */
  readonly webhooks: WebhookCaller;
  /** What other servers serve behind this one. */
  readonly aggregation: Aggregation;
  readonly #parts: ServerCoreParts;
  readonly #admission: AdmissionControl;
  readonly #store: ObjectStore;
  readonly #loop: WorkLoop;
  readonly #apiServices: ApiServices;
  #expiry: EventExpiry | undefined;
  /** Undefined where others give namespaces what they all have. */
  #lifecycle: NamespaceController | undefined;
  /** Undefined until there is a quota, and where others keep their status. */
  #quotas: QuotaController | undefined;
  #observing: Disposable | undefined;
  /** What is looked up with every write, found again when the served resources change. */
  readonly #lookup: ResourceLookup;

  constructor(parts: ServerCoreParts) {
    const { storage, clock, random, log, token, tokens, signer, controllers, scheduler } = parts;
    this.#parts = parts;
    this.storage = storage;
    const services = new ServiceResolver({ storage, resolve: parts.resolveService });
    this.webhooks = new WebhookCaller({ outgoing: this.#outgoing, services, clock });
    this.served = new ServedResources(builtInResources());
    this.#lookup = new ResourceLookup(this.served);
    const namespaces = this.#builtIn('', 'v1', 'namespaces');
    const inNamespace = namespaceGate((name) => storage.get(namespaces.table, name));
    this.#store = new ObjectStore(storage, random, (resource, namespace, name) => {
      this.#checkServed(resource, name);
      if (this.#admission.runs('NamespaceLifecycle')) inNamespace(resource, namespace, name);
    });
    this.#loop = new WorkLoop(clock, log);
    const core = (plural: string) => this.#builtIn('', 'v1', plural);
    const now = () => clock.now();
    const tokenParts = { store: this.#store, core, token, tokens, signer, now };
    this.access = new AccessControl(storage, new TokenAuthenticator(tokenParts));
    const { served } = this;
    const { authorizer } = this.access;
    this.#admission = new AdmissionControl(
      {
        ...{ storage, served, clock, random, log, authorizer, webhooks: this.webhooks },
        prepareNamespace: (namespace) => this.#lifecycle?.fill(namespace),
        countQuotas: (namespace) => this.#quotas?.catchUp(namespace),
        updateStatus: (plural, namespace, name, status) => {
          const make = (live: JsonObject) => ({ ...live, status: status(live) });
          this.#store.update(core(plural), namespace, name, { subresource: 'status', make }, this.#context());
        },
      },
      parts.admission,
    );
    this.verbs = new Verbs({
      admission: this.#admission,
      ...{ storage, store: this.#store, clock, random, log, access: this.access, controllers, scheduler },
      containers: parts.containers ?? {},
      builtIn: (group, version, plural) => this.#builtIn(group, version, plural),
    });
    this.#apiServices = new ApiServices({
      ...{ storage, store: this.#store, served: this.served, context: () => this.#context() },
      definitions: this.#builtIn('apiextensions.k8s.io', 'v1', 'customresourcedefinitions'),
      services: this.#builtIn('apiregistration.k8s.io', 'v1', 'apiservices'),
    });
    this.aggregation = this.#newAggregation(services);
    this.metrics = new ServerMetrics({ clock, storage, resources: () => this.#lookup.tables.values() });
    this.flowControl = this.#newFlowControl();
    const isNew = storage.revision === 0;
    this.#startControllers(namespaces);
    if (isNew) this.#fill(namespaces);
    else if (parts.reconciles) this.#reconcileAccess();
  }

  /** Resolves when what a server holds from the start is there; other servers need not be reachable for that. */
  started(): Promise<void> {
    return this.#loop.idle();
  }

  /** Resolves when the server has no pending work. */
  async idle(): Promise<void> {
    await this.#loop.idle();
    await this.aggregation.idle();
  }

  #newFlowControl(): FlowControl {
    const { storage, clock, maxInflight: seats = 600 } = this.#parts;
    const classifier = new FlowClassifier({ storage, ...this.#flowResources() });
    return new FlowControl({ classifier, clock, metrics: this.metrics.flow, seats });
  }

  #flowResources() {
    const resource = (plural: string) => this.#builtIn('flowcontrol.apiserver.k8s.io', 'v1', plural);
    return { schemas: resource('flowschemas'), levels: resource('prioritylevelconfigurations') };
  }

  #newAggregation(services: ServiceResolver): Aggregation {
    const { storage, clock, log, proxyIdentity: identity, resolveService } = this.#parts;
    const apiServices = this.#builtIn('apiregistration.k8s.io', 'v1', 'apiservices');
    return new Aggregation({
      ...{ storage, clock, log, table: apiServices.table },
      requests: new RemoteRequests({ outgoing: this.#outgoing, services, clock, identity }),
      isResolved: ({ service }) => resolveService?.(service) !== undefined,
      setAvailable: (name, availability) => {
        if (this.#store.find(apiServices, '', name) === undefined) return;
        const context = this.#context();
        const make = (live: JsonObject) => withAvailability(live, availability, context.now);
        this.#store.update(apiServices, '', name, { subresource: 'status', make }, context);
      },
    });
  }

  stop(): void {
    this.#observing?.[Symbol.dispose]();
    this.#expiry?.stop();
    this.#quotas?.stop();
    this.#loop.stop();
    this.verbs.stop();
    this.aggregation.stop();
    this.#outgoing.close();
  }

  #startControllers(namespaces: Resource): void {
    const { storage, clock, rootCertificate, controllers } = this.#parts;
    const context = () => this.#context();
    const deleting = controllerDeletes(this.#admission, context);
    const common = { storage, store: this.#store, loop: this.#loop, context, deleting };
    const garbage = new GarbageCollector({
      ...common,
      resourceOf: (table) => this.#lookup.tables.get(table),
      resourceFor: (apiVersion, kind) => this.#lookup.kinds.get(`${apiVersion} ${kind}`),
    });
    const lifecycle = new NamespaceController({
      ...common,
      namespaces,
      rootCertificate,
      serviceAccounts: this.#builtIn('', 'v1', 'serviceaccounts'),
      configMaps: this.#builtIn('', 'v1', 'configmaps'),
      namespacedResources: () => [...this.#lookup.tables.values()].filter((r) => r.scope === 'Namespaced'),
    });
    const definitions = new CrdController({
      ...common,
      served: this.served,
      definitions: this.#builtIn('apiextensions.k8s.io', 'v1', 'customresourcedefinitions'),
      endWatches: (table) => this.verbs.endWatches(table),
      conversion: { webhooks: this.webhooks, random: this.#parts.random },
    });
    const protection = new StorageProtection({
      ...common,
      claims: this.#builtIn('', 'v1', 'persistentvolumeclaims'),
      volumes: this.#builtIn('', 'v1', 'persistentvolumes'),
      pods: this.#builtIn('', 'v1', 'pods'),
      classes: this.#builtIn('storage.k8s.io', 'v1', 'volumeattributesclasses'),
    });
    const aggregation = new ClusterRoleAggregation({
      ...common,
      clusterRoles: this.#builtIn('rbac.authorization.k8s.io', 'v1', 'clusterroles'),
    });
    const policyTypes = new PolicyTypeChecking({
      ...common,
      served: this.served,
      policies: this.#builtIn('admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies'),
    });
    const flowSchemas = new FlowSchemaStatus({ ...common, ...this.#flowResources() });
    const addresses = new ServiceAddresses({
      ...common,
      services: this.#builtIn('', 'v1', 'services'),
      addresses: this.#builtIn('networking.k8s.io', 'v1', 'ipaddresses'),
    });
    const expiry = new EventExpiry({ clock, store: this.#store, events: this.#builtIn('', 'v1', 'events') });
    this.#expiry = expiry;
    this.#lifecycle = controllers ? lifecycle : undefined;
    const observe = (table: string, event: StorageEvent) => {
      // Definitions first: the others look at what is served.
      definitions.observe(table, event);
      this.flowControl.observe(table);
      flowSchemas.observe(table);
      this.access.rbac.observe(table, event);
      this.#admission.observe(table, event);
      expiry.observe(table, event);
      if (controllers) {
        lifecycle.observe(table, event);
        garbage.observe(table, event);
        protection.observe(table, event);
        aggregation.observe(table);
        policyTypes.observe(table, event);
        this.#observeQuotas(table, event);
      }
      // These write in their turn: those before must have seen this write first.
      definitions.establish(table, event);
      addresses.observe(table, event);
      this.#apiServices.observe(table);
      this.aggregation.observe(table, event);
    };
    this.#load(observe);
    this.#observing = storage.observe(observe);
  }

  /** What counts quotas is made with the first of them: most servers have none. */
  #observeQuotas(table: string, event: StorageEvent): void {
    if (this.#quotas === undefined && table !== '/resourcequotas') return;
    const { storage, clock } = this.#parts;
    this.#quotas ??= new (writeParts().QuotaController)({
      ...{ storage, clock, store: this.#store, loop: this.#loop, context: () => this.#context() },
      quotas: this.#builtIn('', 'v1', 'resourcequotas'),
      definitions: this.#builtIn('apiextensions.k8s.io', 'v1', 'customresourcedefinitions').table,
      resourceOf: (name) => this.#lookup.tables.get(name),
    });
    this.#quotas.observe(table, event);
  }

  /** Makes known what a storage that was used before holds: definitions first, as the rest may be of their kinds. */
  #load(observe: (table: string, event: StorageEvent) => void): void {
    const { storage } = this.#parts;
    if (storage.revision === 0) return;
    const definitions = this.#builtIn('apiextensions.k8s.io', 'v1', 'customresourcedefinitions').table;
    const replay = (table: string) => {
      for (const after of storage.list(table).items) {
        observe(table, { revision: after.revision, key: after.key, before: undefined, after, removed: undefined });
      }
    };
    replay(definitions);
    for (const table of this.#lookup.tables.keys()) if (table !== definitions) replay(table);
  }

  /** What a new cluster holds. */
  #fill(namespaces: Resource): void {
    const context = this.#context();
    for (const name of ['kube-system', 'kube-public', 'kube-node-lease', 'default']) {
      this.#store.place(namespaces, '', ownNamespace(name), context);
    }
    this.#store.place(
      this.#builtIn('networking.k8s.io', 'v1', 'servicecidrs'),
      '',
      ownServiceCidr(context.now),
      context,
    );
    this.#store.place(this.#builtIn('', 'v1', 'services'), 'default', ownService(), context);
    this.#placeAll('scheduling.k8s.io', 'priorityclasses', '', ownPriorityClasses(), context);
    const configMaps = [ownClientAuthority(this.#parts.rootCertificate), ownTokenTracking(context.now)];
    this.#placeAll('', 'configmaps', 'kube-system', configMaps, context);
    const flowControl = 'flowcontrol.apiserver.k8s.io';
    this.#placeAll(flowControl, 'prioritylevelconfigurations', '', ownPriorityLevels, context);
    this.#placeAll(flowControl, 'flowschemas', '', ownFlowSchemas(context.now), context);
    this.#apiServices.fill();
    this.#fillAccess(context);
  }

  #fillAccess(context: WriteContext): void {
    for (const [resource, all] of this.#defaultAccess()) this.#store.seed(resource, all, context);
  }

  /** A version that was started on older data may have other roles by default. */
  #reconcileAccess(): void {
    const context = this.#context();
    for (const [resource, all] of this.#defaultAccess()) reconcileDefaults(this.#store, resource, all, context);
  }

  #defaultAccess(): readonly (readonly [Resource, readonly SeededObject[]])[] {
    const rbac = (plural: string) => this.#builtIn('rbac.authorization.k8s.io', 'v1', plural);
    return [
      [rbac('clusterroles'), this.#parts.controllers ? aggregatedClusterRoles : defaultClusterRoles],
      [rbac('clusterrolebindings'), defaultClusterRoleBindings],
      [rbac('roles'), defaultRoles],
      [rbac('rolebindings'), defaultRoleBindings],
    ];
  }

  #placeAll(group: string, plural: string, namespace: string, own: readonly OwnObject[], context: WriteContext): void {
    const resource = this.#builtIn(group, 'v1', plural);
    for (const one of own) this.#store.place(resource, namespace, one, context);
  }

  #context(): WriteContext {
    const nowMs = this.#parts.clock.now();
    const now = formatTime(nowMs);
    return { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore', warn: () => {}, now, nowMs };
  }

  /** A definition may go while an object of its kind is checked. */
  #checkServed(resource: Resource, name: string): void {
    if (resource.builtIn) return;
    const now = this.served.find(resource.group, resource.version, resource.plural);
    if (now === undefined) throw noSuchPath();
    const refusal = now.rules.refuseCreate?.(resource, name);
    if (refusal !== undefined) throw refusal;
  }

  #builtIn(group: string, version: string, plural: string): Resource {
    const found = this.served.find(group, version, plural);
    if (found === undefined) throw new Error(`${group}/${version} ${plural} is not among the built-in resources`);
    return found;
  }
}
