import { isApiError, isNotFound, type KubeObject, type ReconcileContext } from 'riata';
import { Pod } from 'riata/kinds';
import { isNamespaceTerminating } from 'riata/rest';
import type { podFrom } from './pod-from.js';

type Context = Pick<ReconcileContext<KubeObject>, 'client' | 'event'>;

/**
 * Creates a Pod and reports it as an event of its owner, a refusal too (`PodControlInterface`). Undefined if the
 * namespace is being deleted: nothing can be created there, and that is not worth an event.
 */
export async function createPod(
  { client, event }: Context,
  desired: ReturnType<typeof podFrom>,
): Promise<Pod | undefined> {
  try {
    const pod = await client.create(desired);
    event({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${pod.metadata.name}` });
    return pod;
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined;
    event({ type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${errorText(error)}` });
    throw error;
  }
}

/** Deletes a Pod and reports it as an event of its owner, unless the Pod was deleted already. */
export async function deletePod({ client, event }: Context, { metadata }: Pod): Promise<void> {
  try {
    await client.delete(Pod, metadata);
    event({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${metadata.name}` });
  } catch (error) {
    if (isNotFound(error)) return;
    event({ type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${errorText(error)}` });
    throw error;
  }
}

/** The message of the server alone, as events and conditions of upstream's controllers quote it. */
export function errorText(error: unknown): string {
  if (isApiError(error)) return error.status.message ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
