import type { Client } from '../client/interfaces.js';
import { TokenReview } from '../kinds/generated/groups/authentication.k8s.io/v1.js';
import { SubjectAccessReview } from '../kinds/generated/groups/authorization.k8s.io/v1.js';
import type { Clock } from '../runtime/clock.js';
import type { EndpointAnswer, EndpointGuard } from './http-endpoint.js';

const keptMs = 60_000;
const mostKept = 256;

/**
 * Lets those in whose token the API server knows and who may `get` the path (`filters.WithAuthenticationAndAuthorization`).
 * Needs the right to create tokenreviews and subjectaccessreviews. An answer holds for a minute.
 */
export function reviewGuard(client: Pick<Client, 'create'>, clock: Clock): EndpointGuard {
  const answers = new Map<string, { readonly answer: EndpointAnswer | undefined; readonly untilMs: number }>();
  return async ({ path, authorization }) => {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return { status: 401, body: 'a bearer token is wanted\n' };
    const id = `${path} ${token}`;
    const known = answers.get(id);
    if (known !== undefined && known.untilMs > clock.monotonic()) return known.answer;
    const answer = await review(client, token, path);
    if (answers.size >= mostKept) answers.clear();
    answers.set(id, { answer, untilMs: clock.monotonic() + keptMs });
    return answer;
  };
}

async function review(
  client: Pick<Client, 'create'>,
  token: string,
  path: string,
): Promise<EndpointAnswer | undefined> {
  const { status: who } = await client.create(TokenReview({ metadata: {}, spec: { token } }));
  if (!who?.authenticated) return { status: 401, body: 'the token is not known\n' };
  const { username: user, groups, uid, extra } = who.user ?? {};
  const spec = { user, groups, uid, extra, nonResourceAttributes: { path, verb: 'get' } };
  const { status: access } = await client.create(SubjectAccessReview({ metadata: {}, spec }));
  return access?.allowed ? undefined : { status: 403, body: 'not allowed\n' };
}
