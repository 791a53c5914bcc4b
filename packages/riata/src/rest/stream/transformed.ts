import type { BodyDecoder } from './body-reader.js';

/** A decoder whose elements pass `change` on their way out; the decoder itself if there is no change to make. */
export function transformed<E, R>(
  decoder: BodyDecoder<E, R>,
  change: ((element: E) => E) | undefined,
): BodyDecoder<E, R> {
  if (change === undefined) return decoder;
  return {
    get failed() {
      return decoder.failed;
    },
    get incompleteBytes() {
      return decoder.incompleteBytes;
    },
    push: (chunk) => decoder.push(chunk),
    flush: () => decoder.flush(),
    finish: () => decoder.finish(),
    next: () => {
      const element = decoder.next();
      return element === undefined ? undefined : change(element);
    },
  };
}
