import type { EndpointAnswer } from '../probes/http-endpoint.js';

/** A value as JSON, of which nothing is kept by caches on the way. */
export function jsonAnswer(
  value: unknown,
  options: { readonly status?: number; isDense?: boolean } = {},
): EndpointAnswer {
  const { status = 200, isDense = false } = options;
  const body = `${JSON.stringify(value, undefined, isDense ? undefined : 2)}\n`;
  return { status, contentType: 'application/json', headers: { 'cache-control': 'no-store' }, body };
}

/** Says no, with a reason that tools can read. */
export function refused(status: number, message: string): EndpointAnswer {
  return jsonAnswer({ message }, { status });
}
