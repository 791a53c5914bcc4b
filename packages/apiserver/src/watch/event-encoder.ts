import { Buffer } from 'node:buffer';
import type { JsonObject, KubeObject } from 'riata/object';
import { writeJson } from '../http/body/write-json.js';
import { type ShownAs, shownAs } from '../resource/custom/in-version.js';
import { ObjectTexts } from '../resource/object-texts.js';
import { RecentCache } from '../resource/recent-cache.js';
import type { Resource } from '../resource/resource.js';
import type { StorageEvent, Stored } from '../storage/storage.js';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The form in which a watcher gets objects: how its resource shows them, and what else is made of them. */
export interface EventForm extends ShownAs {
  /** Names the form: equal names give equal bytes. Undefined: they change, and are made again for each watcher. */
  readonly id: string | undefined;
  /** E.g. the metadata alone, or a row of a table. @default the object itself */
  readonly project?: (object: KubeObject) => unknown;
  /** How an event is put into bytes. @default as a line of JSON */
  readonly write?: WriteEvent;
}

/** Puts an event into bytes. */
export type WriteEvent = (type: EventType | 'BOOKMARK' | 'ERROR', object: JsonObject) => Buffer;

/** How many bytes of events are kept for watchers that have yet to send them. */
const limitBytes = 16 * 1024 * 1024;

/** The bytes of events. An event that goes to many watchers is encoded once for each form. */
export class EventEncoder {
  readonly #texts: ObjectTexts;
  readonly #events = new RecentCache<string, Buffer>(limitBytes, (bytes) => bytes.length);
  readonly #left = new WeakMap<StorageEvent, Stored>();
  #last:
    | { readonly stored: Stored; readonly type: EventType; readonly form: string; readonly bytes: Buffer }
    | undefined;

  constructor(texts = new ObjectTexts()) {
    this.#texts = texts;
  }

  event(type: EventType, stored: Stored, form: EventForm): Buffer {
    if (form.id === undefined) return this.#make(type, stored, form);
    const last = this.#last;
    // Most watchers get the same as the one before them.
    if (last?.stored === stored && last.type === type && last.form === form.id) return last.bytes;
    // A revision is of one write alone, so it says which object is meant.
    const bytes = this.#events.get(`${stored.revision} ${type} ${form.id}`, () => this.#make(type, stored, form));
    this.#last = { stored, type, form: form.id, bytes };
    return bytes;
  }

  /** The state before a change, as watchers get it whose selector it has left: made once for all of them. */
  lastSeen(event: StorageEvent, before: Stored): Stored {
    const known = this.#left.get(event);
    if (known !== undefined) return known;
    const { key, revision } = event;
    const metadata = { ...before.object.metadata, resourceVersion: String(revision) };
    const stored = { key, revision, object: { ...before.object, metadata } };
    this.#left.set(event, stored);
    return stored;
  }

  #make(type: EventType, stored: Stored, form: EventForm): Buffer {
    const { project, write } = form;
    if (project !== undefined || write !== undefined) {
      const object = shownAs(stored.object, form);
      return (write ?? line)(type, (project === undefined ? object : project(object)) as JsonObject);
    }
    return Buffer.from(`{"type":"${type}","object":${this.#texts.whole(stored, form)}}\n`);
  }
}

/** One line of a watch. */
export function line(type: EventType | 'BOOKMARK' | 'ERROR', object: unknown): Buffer {
  return Buffer.from(`{"type":"${type}","object":${writeJson(object)}}\n`);
}

/** How far a watch has come, as an object of its kind, in the form of the watcher. */
export function bookmark(
  { kind, apiVersion }: Pick<Resource, 'kind' | 'apiVersion'>,
  { project, write = line }: Pick<EventForm, 'project' | 'write'>,
  revision: number,
  initialEventsEnd: boolean,
): Buffer {
  const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: String(revision), ...annotations };
  const object = { kind, apiVersion, metadata };
  const shown = project === undefined ? object : project(object as unknown as KubeObject);
  return write('BOOKMARK', shown as JsonObject);
}
