import type { Scheduler } from '../../runtime/time/clock.js';
import type { HealthChecks } from './health-checks.js';
import type { EndpointRoute } from './http-endpoint.js';

/**
 * `/healthz` and the like: 200 or 503, one line per check with `?verbose` or when one fails; `/healthz/name` for one, also
 * for one that does not count for the whole. A check that takes longer than ten seconds has failed.
 */
export function healthRoute(checks: HealthChecks, clock: Scheduler): EndpointRoute {
  return async ({ rest: sent, query, signal }) => {
    const rest = decoded(sent);
    if (rest !== '' && !checks.has(rest)) return undefined;
    const limits = { clock, signal };
    const report = await checks.ask(
      rest === '' ? { exclude: query.getAll('exclude'), limits } : { only: rest, limits },
    );
    const failed = rest === '' ? 'failed, which does not count' : 'failed';
    const lines = [
      ...Object.entries(report.checks).map((found) => line(found, 'failed')),
      ...Object.entries(report.asides).map((found) => line(found, failed)),
    ];
    if (report.ok) return { body: query.has('verbose') ? `${[...lines, 'ok'].join('\n')}\n` : 'ok' };
    return { status: 503, body: `${[...lines, 'check failed'].join('\n')}\n` };
  };
}

function line([name, problem]: readonly [string, string | undefined], failed: string): string {
  return problem === undefined ? `[+]${name} ok` : `[-]${name} ${failed}: ${problem}`;
}

/** Cluster names may hold anything; a malformed path names no cluster. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
