import type { Client } from '../../client/interfaces.js';
import { TokenReview } from '../../kinds/generated/groups/authentication.k8s.io/v1.js';
import { SubjectAccessReview } from '../../kinds/generated/groups/authorization.k8s.io/v1.js';
import { link } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { EndpointAnswer, EndpointGuard } from './http-endpoint.js';

const keptMs = 60_000;
const mostKept = 256;
/** Prometheus waits this long; a later answer has no reader. */
const reviewMs = 10_000;

/**
 * Admits clients whose token the API server accepts and who may `get` the path
 * (`filters.WithAuthenticationAndAuthorization`). Needs the right to create tokenreviews and subjectaccessreviews. A
 * decision is cached for a minute. While the API server cannot be reached, or refuses the review, only cached clients
 * are admitted; others get 503.
 */
export function reviewGuard(client: Pick<Client, 'create'>, clock: Scheduler): EndpointGuard {
  const answers = new Map<string, { readonly answer: EndpointAnswer | undefined; readonly untilMs: number }>();
  return async ({ path, authorization, signal }) => {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return { status: 401, body: 'a bearer token is required\n' };
    const id = `${path} ${token}`;
    const known = answers.get(id);
    if (known !== undefined && known.untilMs > clock.monotonic()) return known.answer;
    using asking = link({ signals: [signal], timeoutMs: reviewMs, clock, what: 'asking the API server about a token' });
    let answer: EndpointAnswer | undefined;
    try {
      answer = await review(client, { token, path, signal: asking.signal });
    } catch (failure) {
      return { status: 503, body: 'the API server cannot be asked about the token\n', failure };
    }
    if (answers.size >= mostKept) answers.clear();
    answers.set(id, { answer, untilMs: clock.monotonic() + keptMs });
    return answer;
  };
}

async function review(
  client: Pick<Client, 'create'>,
  { token, path, signal }: { readonly token: string; readonly path: string; readonly signal: AbortSignal },
): Promise<EndpointAnswer | undefined> {
  const { status: who } = await client.create(TokenReview({ metadata: {}, spec: { token } }), { signal });
  if (!who?.authenticated) return { status: 401, body: 'the token is not known\n' };
  const { username: user, groups, uid, extra } = who.user ?? {};
  const spec = { user, groups, uid, extra, nonResourceAttributes: { path, verb: 'get' } };
  const { status: access } = await client.create(SubjectAccessReview({ metadata: {}, spec }), { signal });
  return access?.allowed ? undefined : { status: 403, body: 'not allowed\n' };
}
