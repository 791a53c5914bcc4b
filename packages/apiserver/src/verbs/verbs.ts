import { formatTime, type JsonObject, type Status } from 'riata/object';
import type { Logger, Random, Scheduler } from 'riata/runtime';
import type { AdmissionOperation } from '../admission/admission.js';
import type { AdmissionControl, AdmissionRequest } from '../admission/admission-control.js';
import { withExpiry } from '../authentication/token-request.js';
import type { AccessControl } from '../authorization/access-control.js';
import { resourceAttributes } from '../authorization/attributes.js';
import type { ContainerRuntime } from '../containers/container-runtime.js';
import { protobufType } from '../http/body/media-type.js';
import type { DeleteOptions } from '../http/options/delete-options.js';
import type { ListOptions, ReadOptions } from '../http/options/list-options.js';
import type { WriteOptions } from '../http/options/write-options.js';
import type {
  BodyRequest,
  DeleteCollectionRequest,
  PatchVerbRequest,
  VerbAnswer,
  VerbHandlers,
  VerbRequest,
  WatchVerbRequest,
} from '../http/verb-handlers.js';
import { protobufListPieces } from '../protobuf/protobuf-list-pieces.js';
import { subresourceAsResource } from '../resource/built-in/built-in-resource.js';
import { checkName, checkNamespace } from '../resource/check-name.js';
import { deleteSteps } from '../resource/delete-object.js';
import { checkUid } from '../resource/expectations.js';
import { track } from '../resource/fields/track.js';
import { findObjects, findSteps, wholeList } from '../resource/list-objects.js';
import { listPieces } from '../resource/list-pieces.js';
import { metaOf, textOf, withMeta } from '../resource/metadata.js';
import { keyFor, type ObjectStore } from '../resource/object-store.js';
import { ObjectTexts } from '../resource/object-texts.js';
import { patchObject } from '../resource/patch-object.js';
import { readSteps } from '../resource/read-object.js';
import { type Resource, type Subresource, withDefaults } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { noSuchPath, Refusal, tooLargeResourceVersion } from '../status/refusal.js';
import { inSlices, type Steps } from '../steps.js';
import type { Storage } from '../storage/storage.js';
import { EventEncoder } from '../watch/event-encoder.js';
import { WatchSession } from '../watch/watch-session.js';
import { admitNew, validateNew } from './admit-new.js';
import { bindPod } from './bind-pod.js';
import { componentStatus, componentStatuses, isComponentStatus } from './component-statuses.js';
import { eventFormOf } from './event-form-of.js';
import { choiceOf, listRequest } from './list-request.js';
import { readLog } from './read-log.js';
import { answerReview, isReview } from './reviews.js';
import { type SubresourceHandlers, subresourceHandlers } from './subresource-handlers.js';

/** What the verbs work with. */
export interface VerbParts {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly clock: Scheduler;
  readonly random: Random;
  readonly log: Logger;
  readonly access: AccessControl;
  readonly admission: AdmissionControl;
  /** Whether the server does what kube-controller-manager does. */
  readonly controllers: boolean;
  /** Whether this process runs a scheduler. */
  readonly scheduler: boolean;
  /** What runs in containers. */
  readonly containers: ContainerRuntime;
  /** A built-in resource, by its group, version and plural. */
  readonly builtIn: (group: string, version: string, plural: string) => Resource;
}

/** A list of this many objects is encoded in pieces. */
const longList = 50;

/** The verbs of every resource: from a request that was understood to the storage and back. */
export class Verbs implements VerbHandlers {
  readonly #parts: VerbParts;
  readonly #texts = new ObjectTexts();
  readonly #encoder = new EventEncoder(this.#texts);
  readonly #subresources: SubresourceHandlers;
  readonly #sessions = new Set<WatchSession>();
  #watchesFrom = 0;

  constructor(parts: VerbParts) {
    this.#parts = parts;
    const { storage, store, random, access, builtIn } = parts;
    const core = (plural: string) => builtIn('', 'v1', plural);
    const budgets = () => builtIn('policy', 'v1', 'poddisruptionbudgets');
    this.#subresources = subresourceHandlers({ store, random, core, signer: access.tokens.signer, storage, budgets });
  }

  /** Ends all watches. */
  stop(): void {
    for (const session of this.#sessions) session.stop();
  }

  /** Ends the watches of a table, after all pending events. */
  endWatches(table: string): void {
    for (const session of this.#sessions) if (session.table === table) session.end();
  }

  /** Lets watches start only from now on, as after a restart: the watch history was not kept. */
  forgetEvents(): void {
    this.#watchesFrom = this.#parts.storage.revision;
  }

  async get(request: VerbRequest<ReadOptions>): Promise<VerbAnswer> {
    const { resource, subresource, namespace, name, options } = request;
    const asked = Number(options.resourceVersion || 0);
    if (asked > this.#parts.storage.revision) {
      throw tooLargeResourceVersion(options.resourceVersion, this.#parts.storage.revision);
    }
    const { store, builtIn } = this.#parts;
    if (isComponentStatus(resource)) return { object: componentStatus(resource, name, this.#parts) };
    if (subresource?.name === 'log') {
      const pod = () => store.get(resource, namespace, name);
      const text = readLog(
        { store, nodes: builtIn('', 'v1', 'nodes'), containers: this.#parts.containers, signal: request.signal },
        ...([pod, name, options.query] as const),
      );
      return text === undefined ? { status: 204 } : { text };
    }
    const isPlain = resource.conversions === undefined;
    const object = isPlain
      ? store.get(resource, namespace, name)
      : await inSlices(this.#parts.clock, store.getSteps(resource, namespace, name));
    // Most subresources are views of the object itself.
    if (subresource === undefined || subresource.kind === resource.kind) return { object };
    const read = this.#subresources.get[subresource.name];
    if (read === undefined) throw noSuchPath();
    return { object: read(resource, object) };
  }

  async list(request: VerbRequest<ListOptions>): Promise<VerbAnswer> {
    const { resource, negotiated } = request;
    const { storage, clock } = this.#parts;
    const { mediaType, pretty, as } = negotiated;
    if (isComponentStatus(resource)) return { object: componentStatuses(resource, choiceOf(request), this.#parts) };
    const asked = listRequest(request);
    const converts = resource.conversions !== undefined;
    const list = converts
      ? await inSlices(clock, findSteps(storage, resource, asked))
      : findObjects(storage, resource, asked);
    // A list is no single object's metadata, and a Table is made at once.
    const inPieces = as === undefined || as.kind === 'PartialObjectMetadataList';
    if (mediaType === protobufType && as === undefined && list.found.length >= longList) {
      return { pieces: protobufListPieces(list, resource, clock), mediaType };
    }
    const isPlain = mediaType === 'application/json' && !pretty && inPieces;
    if (!isPlain || list.found.length < longList) return { object: wholeList(resource, list) };
    return { pieces: listPieces(list, { resource, texts: this.#texts, clock, as }), converted: true };
  }

  watch(request: WatchVerbRequest): Promise<void> {
    const { resource, options, reply, headers, signal } = request;
    if (request.negotiated.as?.kind === 'PartialObjectMetadataList') {
      // No event is a list: there is nothing to send.
      reply.head(200, headers);
      reply.end();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const sink = {
        write: (bytes: Uint8Array) => reply.write(bytes),
        drained: () => reply.drained(),
        end: () => {
          signal.removeEventListener('abort', stop);
          this.#sessions.delete(session);
          if (!reply.ended) reply.end();
          resolve();
        },
      };
      const watch = { ...choiceOf(request), ...options, form: eventFormOf(request) };
      const parts = { ...this.#parts, encoder: this.#encoder, oldest: this.#watchesFrom };
      const session = new WatchSession(parts, resource, watch, sink);
      const stop = () => session.stop();
      this.#sessions.add(session);
      signal.addEventListener('abort', stop, { once: true });
      reply.head(200, headers);
      session.start();
      if (signal.aborted) stop();
    });
  }

  async create(request: BodyRequest): Promise<VerbAnswer> {
    return inSlices(this.#parts.clock, this.#create(request));
  }

  async update(request: BodyRequest): Promise<VerbAnswer> {
    return inSlices(this.#parts.clock, this.#update(request));
  }

  async patch(request: PatchVerbRequest): Promise<VerbAnswer> {
    return inSlices(this.#parts.clock, this.#patch(request));
  }

  *#create(request: BodyRequest): Steps<VerbAnswer> {
    const { resource, subresource, namespace, body } = request;
    const context = this.#context(request, request.options);
    if (subresource !== undefined) return yield* this.#createBelow(request, subresource, context);
    const sent = yield* readSteps(resource, body, context, request);
    request.recordBody?.(withDefaults(resource, sent));
    const refusal = resource.rules.refuseCreate?.(resource, textOf(metaOf(sent).name));
    if (refusal !== undefined) throw refusal;
    // A custom kind may have the name of a review and is stored all the same.
    if (resource.builtIn && isReview(resource.kind))
      return { status: 201, object: yield* this.#review(request, sent, context) };
    if (resource.table === '/bindings') return yield* this.#bind(request, sent, context);
    return { status: 201, object: yield* this.#parts.store.createSteps(resource, namespace, sent, context) };
  }

  *#update(request: BodyRequest): Steps<VerbAnswer> {
    const { resource, subresource, namespace, name, body } = request;
    const context = this.#context(request, request.options);
    const replace = subresource === undefined ? undefined : this.#subresources.replace[subresource.name];
    if (replace !== undefined && subresource !== undefined) {
      const as = subresourceAsResource(resource, subresource);
      const sent = yield* readSteps(as, body, context, request);
      request.recordBody?.(withDefaults(as, sent));
      return { object: yield* replace({ resource, as, namespace, name }, sent, context) };
    }
    const sent = yield* readSteps(resource, body, context, request);
    request.recordBody?.(withDefaults(resource, sent));
    checkName(textOf(metaOf(sent).name), name);
    const { uid } = metaOf(sent);
    if (this.#parts.store.find(resource, namespace, name) === undefined && resource.rules.createsOnUpdate === true) {
      // Whoever names a uid means an object that is gone; a resourceVersion alone is overlooked.
      if (textOf(uid) !== '') checkUid(resource, keyFor(namespace, name), textOf(uid), { metadata: { name, uid: '' } });
      const fresh = withMeta(sent, { resourceVersion: undefined });
      const creating = { ...context, confirmCreate: () => this.#confirmCreate(request) };
      return { status: 201, object: yield* this.#parts.store.createSteps(resource, namespace, fresh, creating) };
    }
    const expected = { uid: textOf(uid) };
    const change = { subresource: subresource?.name ?? '', make: () => sent, expected };
    return { object: (yield* this.#parts.store.updateSteps(resource, namespace, name, change, context)).object };
  }

  *#patch(request: PatchVerbRequest): Steps<VerbAnswer> {
    const { resource, subresource, namespace, name, patch, options } = request;
    const context = this.#context(request, options);
    const below = subresource === undefined ? undefined : this.#subresources.patch[subresource.name];
    if (below !== undefined && subresource !== undefined) {
      const as = subresourceAsResource(resource, subresource);
      return { object: yield* below({ resource, as, namespace, name }, patch, context) };
    }
    const { object, created } = yield* patchObject(
      this.#parts.store,
      resource,
      namespace,
      name,
      { ...patch, subresource: subresource?.name ?? '', force: options.force },
      { ...context, confirmCreate: () => this.#confirmCreate(request) },
    );
    return { status: created ? 201 : 200, object };
  }

  async delete(request: VerbRequest<DeleteOptions>): Promise<VerbAnswer> {
    const { resource, namespace, name, options } = request;
    const context = this.#context(request, this.#withUid(request));
    const steps = deleteSteps(this.#parts.store, resource, namespace, name, options, context);
    return { object: await inSlices(this.#parts.clock, steps) };
  }

  /** Admission control decides on a connection; what is behind it is up to the container runtime. */
  async connect(request: VerbRequest<JsonObject>): Promise<VerbAnswer> {
    const { resource, namespace, name, options } = request;
    const admission = this.#parts.admission.forRequest(request, () => ({}), false);
    const { clock, store } = this.#parts;
    const admitted = await inSlices(clock, admission.admit('CONNECT', options, undefined));
    await inSlices(clock, admission.validate('CONNECT', admitted, undefined));
    if (request.subresource?.name === 'proxy') return this.#proxy(request);
    const object = store.get(resource, namespace, name);
    const { connectPod } = await import('../containers/connect-pod.js');
    const isThere = () => store.find(resource, namespace, name)?.object.metadata.uid === object.metadata.uid;
    const subresource = resource.plural === 'pods' ? (request.subresource?.name ?? '') : '';
    const serve = connectPod(this.#parts.containers, object, subresource, admitted ?? options, { clock, isThere });
    if (serve === undefined) throw noSuchPath();
    return { serve };
  }

  async #proxy({ resource, namespace, name, options }: VerbRequest<JsonObject>): Promise<VerbAnswer> {
    const { proxyTarget } = await import('../containers/proxy-target.js');
    const { serveProxy } = await import('../containers/serve-proxy.js');
    const { store, builtIn, containers } = this.#parts;
    const target = proxyTarget(resource, namespace, name, {
      get: (plural, where, of) => store.get(builtIn('', 'v1', plural), where, of),
      find: (plural, where, of) => store.find(builtIn('', 'v1', plural), where, of)?.object,
    });
    return { respond: serveProxy(containers, target, textOf(options.path)) };
  }

  async deleteCollection(request: DeleteCollectionRequest): Promise<VerbAnswer> {
    return { object: await inSlices(this.#parts.clock, this.#deleteAll(request)) };
  }

  /** Registries of kinds that others live in name the object that they mean. */
  #withUid({ resource, name, options }: VerbRequest<DeleteOptions>): DeleteOptions {
    if (resource.table !== '/namespaces' && resource.kind !== 'CustomResourceDefinition') return options;
    const uid = this.#parts.store.find(resource, '', name)?.object.metadata.uid;
    return uid === undefined
      ? options
      : { ...options, given: { ...options.given, preconditions: { uid, ...options.preconditions } } };
  }

  *#deleteAll(request: DeleteCollectionRequest): Steps<object> {
    const { resource, deleteOptions } = request;
    const { storage, store } = this.#parts;
    const { subresource, namespace: place, user, annotate } = request;
    const warn = (text: string) => request.warn(text);
    // Admission learns the name of each object in a collection from the object only.
    const all = { resource, subresource, namespace: place, name: '', user, warn, annotate };
    const context = this.#context(all, deleteOptions);
    const answer = wholeList(resource, yield* findSteps(storage, resource, listRequest(request)));
    for (const { metadata } of answer.items) {
      const { namespace = '', name } = metadata;
      try {
        yield* deleteSteps(store, resource, namespace, name, deleteOptions, context);
      } catch (error) {
        // One that has gone while another was looked at is what was asked for.
        if (!(error instanceof Refusal) || error.status.code !== 404) throw error;
      }
    }
    return answer;
  }

  /** Reviews are answered and not stored. */
  *#review({ resource, namespace, user }: BodyRequest, sent: JsonObject, context: WriteContext): Steps<JsonObject> {
    const isLocal = resource.scope === 'Namespaced';
    if (isLocal) checkNamespace(namespace, textOf(metaOf(sent).namespace));
    const placed = isLocal ? withMeta(sent, { namespace }) : sent;
    const body = yield* admitNew(track(resource, undefined, placed, context), context);
    yield* validateNew(body, context);
    const review = { body, user, namespace, now: context.now };
    return answerReview(resource.kind, review, this.#parts.access);
  }

  /** Who makes an object by an update or an apply must be allowed to create it. */
  #confirmCreate({ user, resource, namespace, name }: Omit<VerbRequest<unknown>, 'options'>): void {
    const { group, plural } = resource;
    const create = { verb: 'create', group, resource: plural, namespace, name };
    this.#parts.access.authorizer.check(resourceAttributes(user, create));
  }

  *#createBelow(request: BodyRequest, subresource: Subresource, context: WriteContext): Steps<VerbAnswer> {
    const { resource, namespace, name, body } = request;
    const make = this.#subresources.create[subresource.name];
    if (make === undefined) throw noSuchPath();
    const as = subresourceAsResource(resource, subresource);
    const sent = yield* readSteps(as, sameInV1(body), context, request);
    request.recordBody?.(withDefaults(as, sent));
    checkNamespace(namespace, textOf(metaOf(sent).namespace));
    const placed = withMeta(subresource.name === 'token' ? withExpiry(sent) : sent, { namespace });
    const tracked = () =>
      subresource.name === 'eviction' ? placed : track(as, undefined, placed, context, subresource.name);
    const admitted = yield* admitNew(placed, context, tracked);
    const object = yield* make({ resource, as, namespace, name }, admitted, context);
    const { code } = object as Partial<Status>;
    return { status: typeof code === 'number' ? code : 201, object };
  }

  /** A Binding may come without the path of its Pod. */
  *#bind({ resource, namespace }: BodyRequest, sent: JsonObject, context: WriteContext): Steps<VerbAnswer> {
    const pods = this.#parts.builtIn('', 'v1', 'pods');
    checkNamespace(namespace, textOf(metaOf(sent).namespace));
    const placed = withMeta(sent, { namespace });
    const binding = yield* admitNew(placed, context, () => track(resource, undefined, placed, context));
    const name = textOf(metaOf(binding).name);
    return { status: 201, object: yield* bindPod(this.#parts.store, pods, namespace, name, binding, context) };
  }

  #context(request: AdmissionRequest, options: WriteOptions | DeleteOptions): WriteContext {
    const nowMs = this.#parts.clock.now();
    const { escalation } = this.#parts.access;
    const { user, name } = request;
    const { dryRun } = options;
    return {
      dryRun,
      fieldManager: 'fieldManager' in options ? options.fieldManager : '',
      fieldValidation: 'fieldValidation' in options ? options.fieldValidation : 'Ignore',
      admission: this.#parts.admission.forRequest(request, optionsOf(options), dryRun),
      warn: (text) => request.warn(text),
      user,
      guard: (write) => escalation.check(user, { ...write, name }),
      now: formatTime(nowMs),
      nowMs,
    };
  }
}

const optionKinds: Readonly<Record<AdmissionOperation, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: '',
};

function optionsOf({ given }: { readonly given: JsonObject }): (operation: AdmissionOperation) => JsonObject {
  return (operation) => ({ kind: optionKinds[operation], apiVersion: 'meta.k8s.io/v1', ...given });
}

/** Evictions of an old version are taken all the same. */
function sameInV1(body: JsonObject): JsonObject {
  return body.kind === 'Eviction' && body.apiVersion === 'policy/v1beta1' ? { ...body, apiVersion: 'policy/v1' } : body;
}
