import type { KubeObject } from 'riata/object';
import type { WatchVerbRequest } from '../http/verb-handlers.js';
import type { EventForm } from '../watch/event-encoder.js';

/** The form in which a watch sends its events. */
export function eventFormOf(request: WatchVerbRequest): EventForm {
  const { resource, negotiated, showRow, writeEvent: write } = request;
  const { apiVersion, content, definedAt = '' } = resource;
  const { as, mediaType } = negotiated;
  const shown = `${apiVersion} ${definedAt} ${mediaType}`;
  if (as === undefined) return { id: shown, apiVersion, content, write };
  // Ages change, and the first event has more to say than the others.
  if (showRow !== undefined) return { id: undefined, apiVersion, content, project: showRow };
  const form = `${as.group}/${as.version}`;
  const project = ({ metadata }: KubeObject) => ({ kind: as.kind, apiVersion: form, metadata });
  return { id: `${shown} ${form} ${as.kind}`, apiVersion, content, project, write };
}
