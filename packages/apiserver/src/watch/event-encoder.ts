import { Buffer } from 'node:buffer';
import type { KubeObject } from 'riata/object';
import { inVersion, type Resource } from '../resource/resource.js';
import type { StorageEvent, Stored } from '../storage/storage.js';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The form in which a watcher wants objects: the version, and what else is made of them. */
export interface EventForm {
  /** Names the form: equal names give equal bytes. */
  readonly id: string;
  readonly apiVersion: string;
  /** E.g. the metadata alone, or a row of a table. @default the object itself */
  readonly project?: (object: KubeObject) => unknown;
}

/**
 * The bytes of events. A version is turned into text once for each form, however many watch: it is kept as long as the
 * version is.
 */
export class EventEncoder {
  readonly #texts = new WeakMap<Stored, Map<string, Buffer>>();

  event(type: EventType, stored: Stored, form: EventForm): Buffer {
    const forms = this.#texts.get(stored) ?? new Map<string, Buffer>();
    const id = `${type} ${form.id}`;
    const known = forms.get(id);
    if (known !== undefined) return known;
    const object = inVersion(stored.object, form.apiVersion);
    const bytes = line(type, form.project === undefined ? object : form.project(object));
    forms.set(id, bytes);
    this.#texts.set(stored, forms);
    return bytes;
  }
}

/** One line of a watch. */
export function line(type: EventType | 'BOOKMARK' | 'ERROR', object: unknown): Buffer {
  return Buffer.from(`{"type":"${type}","object":${JSON.stringify(object)}}\n`);
}

/** How far a watch has come, told in the form of an object of its kind. */
export function bookmark(
  { kind, apiVersion }: Pick<Resource, 'kind' | 'apiVersion'>,
  revision: number,
  initialEventsEnd: boolean,
): Buffer {
  const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: String(revision), ...annotations };
  return line('BOOKMARK', { kind, apiVersion, metadata });
}

const lastSeenBy = new WeakMap<StorageEvent, Stored>();

/** The state before a change, as it is told to watchers whose selector it has left: made once for all of them. */
export function lastSeen(event: StorageEvent, before: Stored): Stored {
  const known = lastSeenBy.get(event);
  if (known !== undefined) return known;
  const { key, revision } = event;
  const metadata = { ...before.object.metadata, resourceVersion: String(revision) };
  const stored = { key, revision, object: { ...before.object, metadata } };
  lastSeenBy.set(event, stored);
  return stored;
}
