import type { HealthChecks } from './health-checks.js';
import type { EndpointRoute } from './http-endpoint.js';

/** `/healthz` and the like: 200 or 503, one line per check with `?verbose` or when one fails; `/healthz/name` for one. */
export function healthRoute(checks: HealthChecks): EndpointRoute {
  return async ({ rest, query }) => {
    if (rest !== '' && !checks.has(rest)) return undefined;
    const report = await checks.ask(rest === '' ? { exclude: query.getAll('exclude') } : { only: rest });
    const lines = Object.entries(report.checks).map(([name, problem]) =>
      problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
    );
    if (report.ok) return { body: query.has('verbose') ? `${[...lines, 'ok'].join('\n')}\n` : 'ok' };
    return { status: 503, body: `${[...lines, 'check failed'].join('\n')}\n` };
  };
}
