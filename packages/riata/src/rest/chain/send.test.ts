import { describe, expect, test } from 'vitest';
import type { Transport, TransportFlow, TransportSink } from '../transport/transport.js';
import { type ApiResponse, type BodySink, sendOver } from './send.js';

/** A transport whose answers are played by hand. */
function byHand() {
  const done: string[] = [];
  let sink: TransportSink | undefined;
  const flow: TransportFlow = {
    pause: () => void done.push('pause'),
    resume: () => void done.push('resume'),
    abort: (reason) => {
      done.push(`abort: ${(reason as Error).message}`);
    },
  };
  const transport: Transport = {
    dispatch: (_, given) => {
      sink = given;
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  const sent = sendOver(transport)({ method: 'GET', path: '/', url: 'http://server/', headers: {} });
  const answer = (...chunks: string[]): Promise<ApiResponse> => {
    sink?.onHeaders(200, {}, flow);
    for (const chunk of chunks) sink?.onData(Buffer.from(chunk));
    return sent;
  };
  return { answer, done, sink: () => sink as TransportSink };
}

/** Takes a body, and throws at the chunk with this text. */
function failingAt(text: string) {
  const heard: string[] = [];
  const sink: BodySink = {
    onData: (chunk) => {
      heard.push(Buffer.from(chunk).toString());
      if (heard.at(-1) === text) throw new Error(`no more after ${text}`);
    },
    onEnd: () => void heard.push('end'),
    onError: (error) => void heard.push(`error: ${(error as Error).message}`),
  };
  return { sink, heard };
}

describe('a sink that throws at what came before it was there', () => {
  test('while the response goes on: the exchange is aborted, and nothing more is handed on', async () => {
    const { answer, done, sink } = byHand();
    const response = await answer('a', 'b', 'c');
    const { sink: failing, heard } = failingAt('b');
    response.deliver(failing);
    expect(heard).toEqual(['a', 'b']);
    expect(done.filter((what) => what !== 'resume')).toEqual(['abort: no more after b']);
    // As transports do when they are aborted.
    sink().onError(new Error('no more after b'));
    expect(heard).toEqual(['a', 'b', 'error: no more after b']);
  });

  test('after its end: it hears of its own error instead, once', async () => {
    const { answer, sink } = byHand();
    const response = await answer('a', 'b', 'c');
    sink().onEnd();
    const { sink: failing, heard } = failingAt('b');
    response.deliver(failing);
    expect(heard).toEqual(['a', 'b', 'error: no more after b']);
    response.resume();
    expect(heard).toHaveLength(3);
  });

  test('when it goes on after a pause', async () => {
    const { answer, done, sink } = byHand();
    const response = await answer();
    const { sink: failing, heard } = failingAt('b');
    response.deliver(failing);
    response.pause();
    sink().onData(Buffer.from('a'));
    sink().onData(Buffer.from('b'));
    sink().onData(Buffer.from('c'));
    expect(heard).toEqual([]);
    response.resume();
    expect(heard).toEqual(['a', 'b']);
    expect(done).toContain('abort: no more after b');
    sink().onEnd();
    expect(heard.slice(2)).toHaveLength(1);
  });
});
