import { Buffer } from 'node:buffer';
import type { GroupVersionKind, KubeObject } from 'riata/object';
import type { Scheduler } from 'riata/runtime';
import { writeJson } from '../http/body/write-json.js';
import type { Stored } from '../storage/storage.js';
import type { FoundList } from './list-objects.js';
import type { ObjectTexts } from './object-texts.js';
import type { Resource } from './resource.js';

/** What is handed on at once. Larger pieces only fill the socket's queue. */
const pieceLength = 64 * 1024;
/** Between two looks at the rest of the world: 1 ms of work, or 3 ms if the texts have to be made. */
const turnLength = 512 * 1024;

/** How a list is written. */
export interface ListForm {
  readonly resource: Resource;
  readonly texts: ObjectTexts;
  readonly clock: Scheduler;
  /** Set where the metadata alone is asked for. */
  readonly as?: GroupVersionKind;
}

/** The JSON of a list in pieces, however long it is: made item by item, from texts that watches use as well. */
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

/** Only a webhook changes metadata when it converts. */
function metadataOf(object: KubeObject, { conversions, content }: Resource): KubeObject['metadata'] {
  return conversions === undefined ? object.metadata : (content?.(object) ?? object).metadata;
}

function itemWriter({ resource, texts, as }: ListForm): (stored: Stored) => string {
  if (as !== undefined) {
    const named = { kind: 'PartialObjectMetadata', apiVersion: `${as.group}/${as.version}` };
    return ({ object }) => writeJson({ ...named, metadata: metadataOf(object, resource) });
  }
  // Items of built-in kinds do not say what they are.
  if (resource.builtIn) return (stored) => texts.body(stored, resource);
  return (stored) => texts.whole(stored, resource);
}
