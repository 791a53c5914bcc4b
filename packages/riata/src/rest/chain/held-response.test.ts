import { describe, expect, test } from 'vitest';
import type { TransportFlow, TransportSink } from '../transport/transport.js';
import { HeldResponse } from './held-response.js';

/** A response that is played by hand. */
function byHand() {
  const done: string[] = [];
  const flow: TransportFlow = {
    pause: () => void done.push('pause'),
    resume: () => void done.push('resume'),
    abort: (reason) => {
      done.push(`abort: ${(reason as Error).message}`);
    },
  };
  const response = new HeldResponse();
  const answer = (...chunks: string[]): HeldResponse => {
    response.onHeaders(200, {}, flow);
    for (const chunk of chunks) response.onData(Buffer.from(chunk));
    return response;
  };
  return { answer, done, sink: () => response };
}

/** Takes a body, and throws at the chunk with this text. */
function failingAt(text: string) {
  const received: string[] = [];
  const sink: Omit<TransportSink, 'onHeaders'> = {
    onData: (chunk) => {
      received.push(Buffer.from(chunk).toString());
      if (received.at(-1) === text) throw new Error(`no more after ${text}`);
    },
    onEnd: () => void received.push('end'),
    onError: (error) => void received.push(`error: ${(error as Error).message}`),
  };
  return { sink, received };
}

describe('a sink that throws at what came before it was there', () => {
  test('while the response continues: the exchange is aborted, and nothing more is handed on', () => {
    const { answer, done, sink } = byHand();
    const response = answer('a', 'b', 'c');
    const { sink: failing, received } = failingAt('b');
    response.deliver(failing);
    expect(received).toEqual(['a', 'b']);
    expect(done.filter((what) => what !== 'resume')).toEqual(['abort: no more after b']);
    // As transports do when they are aborted.
    sink().onError(new Error('no more after b'));
    expect(received).toEqual(['a', 'b', 'error: no more after b']);
  });

  test('after its end: it hears of its own error instead, once', () => {
    const { answer, sink } = byHand();
    const response = answer('a', 'b', 'c');
    sink().onEnd();
    const { sink: failing, received } = failingAt('b');
    response.deliver(failing);
    expect(received).toEqual(['a', 'b', 'error: no more after b']);
    response.resume();
    expect(received).toHaveLength(3);
  });

  test('when it continues after a pause', () => {
    const { answer, done, sink } = byHand();
    const response = answer();
    const { sink: failing, received } = failingAt('b');
    response.deliver(failing);
    response.pause();
    sink().onData(Buffer.from('a'));
    sink().onData(Buffer.from('b'));
    sink().onData(Buffer.from('c'));
    expect(received).toEqual([]);
    response.resume();
    expect(received).toEqual(['a', 'b']);
    expect(done).toContain('abort: no more after b');
    sink().onEnd();
    expect(received.slice(2)).toHaveLength(1);
  });
});
