import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';

/** A request that was not read to its end, as it is too large. */
export const tooLarge: unique symbol = Symbol('too large');

/** The whole body, or {@link tooLarge} as soon as it is known to be longer than the limit. Rejects if the caller hangs up. */
export async function readBody(
  request: IncomingMessage | Http2ServerRequest,
  limit: number,
): Promise<Uint8Array | typeof tooLarge> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) return tooLarge;
  const pieces: Uint8Array[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (piece: Uint8Array) => {
      length += piece.length;
      if (length > limit) {
        request.removeAllListeners('data');
        request.pause();
        resolve(tooLarge);
      } else {
        pieces.push(piece);
      }
    });
    let isEnded = false;
    request.once('end', () => {
      isEnded = true;
      resolve(pieces.length === 1 ? (pieces[0] as Uint8Array) : joined(pieces, length));
    });
    // Every request closes in the end; an error for each would cost more than most of what is done here.
    const broken = () => {
      if (!isEnded) reject(new Error('the caller has closed the connection'));
    };
    request.once('error', reject);
    request.once('aborted', broken);
    request.once('close', broken);
  });
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
