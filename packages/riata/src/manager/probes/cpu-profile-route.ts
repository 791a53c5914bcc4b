import type { Scheduler } from '../../runtime/time/clock.js';
import type { EndpointRoute } from './http-endpoint.js';

const longestSeconds = 60;

/**
 * A CPU profile of the process, to be opened in a browser's developer tools (`pprof`): recorded for `?seconds=5`, one
 * at a time, and no longer than the client waits for it. It can slow the process down, so it is off by default.
 */
export function cpuProfileRoute(clock: Scheduler): EndpointRoute {
  let isRunning = false;
  return async ({ query, signal }) => {
    const seconds = Number(query.get('seconds') ?? 5);
    if (!(seconds > 0 && seconds <= longestSeconds)) {
      return {
        status: 400,
        body: `seconds must be greater than 0 and at most ${longestSeconds}, got ${query.get('seconds')}\n`,
      };
    }
    if (isRunning) return { status: 409, body: 'a profile is already in progress\n' };
    isRunning = true;
    try {
      const { Session } = await import('node:inspector/promises');
      const session = new Session();
      session.connect();
      try {
        await session.post('Profiler.enable');
        await session.post('Profiler.start');
        await clock.sleep(seconds * 1000, { signal });
        const { profile } = await session.post('Profiler.stop');
        return { contentType: 'application/json', body: JSON.stringify(profile) };
      } finally {
        session.disconnect();
      }
    } finally {
      isRunning = false;
    }
  };
}
