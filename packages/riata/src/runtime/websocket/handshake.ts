/** A fresh value of `Sec-WebSocket-Key`. */
export function webSocketKey(): string {
  return btoa(String.fromCharCode(...randomBytes(16)));
}

/** The value of `Sec-WebSocket-Accept` that proves that a server has understood the key. */
export function webSocketAccept(key: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/** Unpredictable bytes, as RFC 6455 requires of masks: a proxy must not take what was sent for a request. */
export function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}
