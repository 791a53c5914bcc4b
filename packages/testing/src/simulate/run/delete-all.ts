import type { ConnectedClient } from 'riata/client';
import type { KubeObject } from 'riata/object';
import { isNotFound } from 'riata/rest';

/** Deletes what a story has created and left; `drive` waits for each deletion. */
export async function deleteAll(
  client: ConnectedClient,
  objects: readonly KubeObject[],
  drive: (deleting: Promise<unknown>, what: string) => Promise<void>,
): Promise<void> {
  for (const object of objects) {
    const kind = client.scheme.kindOf(object) ?? (await client.mapper.kindFor(object).catch(() => undefined));
    const { namespace, name = '' } = object.metadata;
    if (kind === undefined) continue;
    const deleting = client.delete(kind, { namespace, name } as never).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    await drive(deleting, `the deletion of ${kind.kind} ${name}`);
  }
}
