import { Buffer } from 'node:buffer';
import type { GroupVersionKind, KubeObject } from 'riata/object';
import type { Scheduler } from 'riata/runtime';
import { writeJson } from '../http/body/write-json.js';
import type { Stored } from '../storage/storage.js';
import type { FoundList } from './list-objects.js';
import type { ObjectTexts } from './object-texts.js';
import type { Resource } from './resource.js';

/** Size of a piece. Larger ones would only fill the socket's queue. */
const pieceLength = 64 * 1024;
/** Items between two yields: 1 ms of work, or 3 ms if their JSON must be created. */
const turnLength = 512 * 1024;

/** Options for writing a list. */
export interface ListForm {
  readonly resource: Resource;
  readonly texts: ObjectTexts;
  readonly clock: Scheduler;
  /** Set for metadata-only requests. */
  readonly as?: GroupVersionKind;
}

/** The JSON of a list in pieces, created item by item from texts that watches share. */
export async function* listPieces({ head, found }: FoundList, form: ListForm): AsyncGenerator<Uint8Array> {
  const { as, clock } = form;
  const named = as === undefined ? head : { ...head, kind: as.kind, apiVersion: `${as.group}/${as.version}` };
  let parts = [`${JSON.stringify(named).slice(0, -1)},"items":[`];
  let [gathered, sinceTurn] = [0, 0];
  const item = itemWriter(form);
  for (const [index, stored] of found.entries()) {
    const text = item(stored);
    if (index > 0) parts.push(',');
    parts.push(text);
    gathered += text.length;
    if (gathered < pieceLength) continue;
    yield Buffer.from(parts.join(''));
    sinceTurn += gathered;
    [parts, gathered] = [[], 0];
    if (sinceTurn < turnLength) continue;
    sinceTurn = 0;
    await clock.yield();
  }
  parts.push(']}\n');
  yield Buffer.from(parts.join(''));
}

/** The metadata of an item. Only conversion webhooks change metadata. */
function metadataOf(object: KubeObject, { conversions, content }: Resource): KubeObject['metadata'] {
  return conversions === undefined ? object.metadata : (content?.(object) ?? object).metadata;
}

function itemWriter({ resource, texts, as }: ListForm): (stored: Stored) => string {
  if (as !== undefined) {
    const named = { kind: 'PartialObjectMetadata', apiVersion: `${as.group}/${as.version}` };
    return ({ object }) => writeJson({ ...named, metadata: metadataOf(object, resource) });
  }
  // Items of built-in kinds have no `apiVersion` and `kind`.
  if (resource.builtIn) return (stored) => texts.body(stored, resource);
  return (stored) => texts.whole(stored, resource);
}
