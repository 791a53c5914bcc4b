import { Buffer } from 'node:buffer';
import { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Scheduler } from 'riata/runtime';
import { type Reply, sendBytes } from '../reply.js';
import { parseRequestInfo } from '../request-info.js';
import { requestTimeoutMs, timeoutOf } from '../request-timeout.js';
import { maxBodyBytes, type ServerRequest } from '../server-request.js';
import { commonHeaders } from '../status-answer.js';

/** A body that exceeds its limit by this much is not read to its end. */
const maxWasteBytes = 64 * 1024 * 1024;

/**
 * The body of a request; `gone` when the client disconnects before its end, `late` when its time is over. Bytes beyond
 * the limit are read and dropped.
 */
export function readBody(
  incoming: Readable,
  clock: Scheduler,
  timeoutMs: number,
): Promise<Uint8Array | 'gone' | 'late'> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let kept = 0;
    let seen = 0;
    const timer = clock.after(timeoutMs, () => done('late'), { background: true });
    const done = (body: Uint8Array | 'gone' | 'late') => {
      timer.cancel();
      resolve(body);
    };
    incoming.on('data', (chunk: Buffer) => {
      seen += chunk.length;
      if (seen > maxWasteBytes) done('gone');
      if (kept > maxBodyBytes) return;
      const part = chunk.subarray(0, maxBodyBytes + 1 - kept);
      parts.push(part);
      kept += part.length;
    });
    incoming.on('end', () => done(Buffer.concat(parts)));
    incoming.on('close', () => done('gone'));
  });
}

/** How long a body may take: as long as the whole request. */
export function bodyTimeoutOf({ method, path }: Pick<ServerRequest, 'method' | 'path'>): number {
  if (!path.includes('timeout=')) return requestTimeoutMs;
  try {
    return timeoutOf(parseRequestInfo(method, path));
  } catch {
    // The problem is reported once the body is complete.
    return requestTimeoutMs;
  }
}

/** The Status of kube-apiserver for a request that takes too long; it has no kind. */
const lateStatus = {
  metadata: {},
  status: 'Failure',
  message: 'Timeout: request did not complete within the allotted timeout',
  reason: 'Timeout',
  details: {},
  code: 504,
};

/** Answers a request whose body does not come, and closes its connection: what else comes would be of that body. */
export async function answerLateBody(reply: Reply, connection: Writable): Promise<void> {
  const headers = { ...commonHeaders, 'content-type': 'text/plain; charset=utf-8' };
  if (connection instanceof ServerResponse) connection.shouldKeepAlive = false;
  sendBytes(reply, 504, headers, Buffer.from(`${JSON.stringify(lateStatus)}\n`));
  if (connection.writableFinished || connection.destroyed) return;
  await new Promise<void>((resolve) => {
    connection.once('finish', resolve);
    connection.once('close', resolve);
  });
  connection.destroy();
}
