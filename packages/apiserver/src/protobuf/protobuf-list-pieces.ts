import type { JsonObject } from 'riata/object';
import type { Scheduler } from 'riata/runtime';
import { shownAs } from '../resource/custom/in-version.js';
import type { FoundList } from '../resource/list-objects.js';
import type { Resource } from '../resource/resource.js';

/** How many objects are encoded before the event loop gets a turn. */
const slice = 500;

/**
 * The bytes of a long list of a built-in kind in pieces. All are made before the first is sent, since that carries the
 * length.
 */
export async function* protobufListPieces(
  { head, found }: FoundList,
  resource: Resource,
  clock: Scheduler,
): AsyncGenerator<Uint8Array> {
  const { encodeItems, encodeListHead } = await import('./envelope.js');
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < found.length; at += slice) {
    if (at > 0) await clock.yield();
    const objects = found.slice(at, at + slice).map(({ object }) => shownAs(object, resource));
    pieces.push(encodeItems(objects as unknown as JsonObject[], resource));
  }
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  yield encodeListHead(head as unknown as JsonObject, length);
  yield* pieces;
}
