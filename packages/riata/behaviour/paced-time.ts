import { defaultTransport, type RestConfig, type Transport } from 'riata/rest';
import { systemClock, VirtualClock } from 'riata/runtime';

/** How much passes at once. */
const stepMs = 250;
/** Real time that a watch has for what it begins with. */
const firstEventMs = 50;
/** In the bookmark behind the last object of a WatchList. */
const endOfList = 'k8s.io/initial-events-end';

/**
 * Time for programs that hold leases, on any server: it passes while a test waits for it here, and never while a
 * request is in flight. So neither a slow server nor a machine that stands still for seconds costs a lease. Tests of
 * controllers don't need it: in-process, everything is on the virtual clock of @riata/testing.
 */
export class PacedTime {
  readonly clock = new VirtualClock();

  /** The same server: time stands still until it has answered what is asked by this way, and sent what watches begin with. */
  config(config: RestConfig): RestConfig & { readonly transport: Transport } {
    const inner = config.transport ?? defaultTransport(config);
    const close = async () => {
      if (config.transport === undefined) await inner.close();
    };
    const dispatch: Transport['dispatch'] = (request, sink) => {
      const asking = this.clock.track(`${request.method} ${request.path}`);
      const over = () => asking[Symbol.dispose]();
      const isWatch = request.path.includes('watch=');
      const isWatchList = request.path.includes('sendInitialEvents=true');
      let tail = '';
      inner.dispatch(request, {
        onHeaders: (status, headers, flow) => {
          sink.onHeaders(status, headers, flow);
          // What a watch cannot go on from comes as its first event.
          if (isWatch && !isWatchList && status === 200) void systemClock.sleep(firstEventMs).then(over);
        },
        onData: (chunk) => {
          sink.onData(chunk);
          if (!isWatchList) return;
          tail = (tail + Buffer.from(chunk).toString('latin1')).slice(-chunk.length - endOfList.length);
          if (tail.includes(endOfList)) over();
        },
        onEnd: () => {
          sink.onEnd();
          over();
        },
        onError: (error) => {
          sink.onError(error);
          over();
        },
      });
    };
    return { ...config, transport: { dispatch, close, [Symbol.asyncDispose]: close } };
  }

  /** Lets time pass until the answer is neither undefined nor false; fails with `what` after a minute of real time. */
  async until<T>(what: string, probe: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
    const deadline = systemClock.monotonic() + 60_000;
    for (;;) {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
      if (systemClock.monotonic() > deadline) throw new Error(`waited a minute in vain until ${what}`);
      await this.clock.advance(stepMs);
      // What watches bring comes in real time.
      await systemClock.sleep(2);
    }
  }

  /** Lets time pass until this has come to its end. */
  async ended<T>(what: string, promise: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    promise.then(over, over);
    await this.until(what, () => isOver);
    return promise;
  }
}
