import { reconcileAnnotations } from '../../controller/define/pausing.js';
import { isJsonObject } from '../../object/json.js';
import { isApiError } from '../../rest/errors/api-error.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Clock } from '../../runtime/time/clock.js';
import type { EndpointRoute } from '../probes/http-endpoint.js';
import { jsonAnswer, refused } from './json-answer.js';
import type { ShownObjects } from './shown-objects.js';
import type { Viewers } from './viewer.js';

const actions = {
  reconcile: { reason: 'ReconcileRequested', words: 'requested a reconcile' },
  pause: { reason: 'PauseRequested', words: 'paused its reconciles' },
  resume: { reason: 'ResumeRequested', words: 'resumed its reconciles' },
} as const;

/** What {@link actionRoute} needs. */
export interface ActionRouteParts {
  readonly shown: ShownObjects;
  readonly viewers: Viewers;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
}

/**
 * `POST /debug/actions` with `{ action, apiVersion, kind, namespace, name }`: sets or removes one of the annotations that
 * direct reconciles, if the viewer may patch the object, and records who did so by an Event. A page of another site cannot
 * send it: the header `X-Riata-Action` needs a permission that is never given.
 */
export function actionRoute({ shown, viewers, clock, log, mask }: ActionRouteParts): EndpointRoute {
  return async ({ body = '', headers = {}, authorization, signal }) => {
    const site = headers['sec-fetch-site'];
    if (headers['x-riata-action'] === undefined || (site !== undefined && site !== 'same-origin')) {
      return refused(403, 'actions of other sites are refused: send the header X-Riata-Action from the same origin');
    }
    const asked = parse(body);
    if (asked === undefined)
      return refused(400, `expects JSON with action (${Object.keys(actions).join(', ')}), apiVersion, kind and name`);
    const { action, apiVersion, kind: kindName, namespace, name, cluster } = asked;
    const viewer = await viewers.of(authorization, { signal, isFresh: true });
    if (viewer === undefined) return refused(401, 'the token is not known');
    const found = shown.find(apiVersion, kindName, cluster);
    if (found === undefined) return refused(404, `kind ${apiVersion} ${kindName} is neither cached nor reconciled`);
    const { kind, place } = found;
    const refusal = await viewer.refusal({ verb: 'patch', kind, namespace, name, cluster }, { signal, isFresh: true });
    if (refusal !== undefined) return refused(403, refusal);
    const annotations = {
      reconcile: { [reconcileAnnotations.reconcileAt]: new Date(clock.now()).toISOString() },
      pause: { [reconcileAnnotations.pause]: 'true' },
      resume: { [reconcileAnnotations.pause]: null },
    }[action];
    const key = (namespace === undefined ? { name } : { name, namespace }) as never;
    try {
      const patched = await place.client.patch(
        kind,
        key,
        { type: 'merge', body: { metadata: { annotations } } as never },
        { signal },
      );
      const { reason, words } = actions[action];
      place.recorder.event(patched, { type: 'Normal', reason, message: `${viewer.name} ${words} in the dashboard` });
      log.info('dashboard action', { action, kind: kindName, namespace, name, viewer: viewer.name });
    } catch (error) {
      if (!isApiError(error)) throw error;
      return refused(error.code, mask(error.message));
    }
    return jsonAnswer({ done: action });
  };
}

interface Asked {
  readonly action: keyof typeof actions;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly cluster?: string;
}

function parse(body: string): Asked | undefined {
  let asked: unknown;
  try {
    asked = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isJsonObject(asked) || typeof asked.action !== 'string' || !Object.hasOwn(actions, asked.action))
    return undefined;
  const { action, apiVersion, kind, namespace, name, cluster } = asked as Record<string, unknown>;
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  if (![apiVersion, kind, name].every(isText) || [namespace, cluster].some((each) => each && !isText(each)))
    return undefined;
  const place = { ...(namespace ? { namespace } : {}), ...(cluster ? { cluster } : {}) };
  return { action, apiVersion, kind, name, ...place } as Asked;
}
