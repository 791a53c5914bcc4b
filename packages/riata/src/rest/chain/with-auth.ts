import type { Credentials } from '../config/rest-config.js';
import { untilClosed, type WaitOptions } from '../stream/until-closed.js';
import type { ApiRequest, ApiResponse, Send } from './send.js';

/**
 * Puts the `Authorization` header in force on each request, unless the request brings its own. On a 401 the
 * credentials are refreshed and the request is sent exactly once more, if they say that it may help. Who waits for
 * credentials, e.g. for a plugin, waits no longer once `closing` aborts.
 */
export function withAuth(send: Send, credentials: Credentials | undefined, closing?: AbortSignal): Send {
  if (!credentials) return send;
  return async (request) => {
    if (request.headers.authorization !== undefined) return send(request);
    const { begun } = request;
    // What is on its way already has its header, which need not be the one in force now.
    const isBegun = begun !== undefined && !begun.isTaken;
    const sent = isBegun ? request : await authorized(request, credentials, { closing, requestSent: false });
    const rejected = isBegun ? begun.authorization : sent.headers.authorization?.toString();
    const response = await send(sent);
    if (response.status !== 401) return response;
    const again = { closing, requestSent: true };
    const refreshed = untilClosed(request, again, ({ signal }) => credentials.refresh({ signal, rejected }));
    if (!(await refreshed.catch(failWith(response.discard.bind(response))))) return explained(response, credentials);
    response.discard();
    return explained(await send(await authorized(request, credentials, again)), credentials);
  };
}

/** Notes on a 401 what the credentials know to be wrong with them; a failure to find out is no news. */
async function explained(response: ApiResponse, credentials: Credentials): Promise<ApiResponse> {
  if (response.status === 401) response.problem = await credentials.problem?.().catch(() => undefined);
  return response;
}

function failWith(cleanUp: () => void): (error: unknown) => never {
  return (error) => {
    cleanUp();
    throw error;
  };
}

async function authorized(request: ApiRequest, credentials: Credentials, wait: WaitOptions): Promise<ApiRequest> {
  const authorization = await untilClosed(request, wait, (options) => credentials.authorization(options));
  if (authorization === undefined) return request;
  return { ...request, headers: { ...request.headers, authorization } };
}
