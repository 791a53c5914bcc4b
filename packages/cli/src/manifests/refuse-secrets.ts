import type { WriteObject } from 'riata/client';
import { isPlaceholder } from '../chart/placeholder.js';
import { CommandError } from '../command/command-error.js';

/** Throws for a Secret with values in it: files are committed and published. Values of a chart are fine. */
export function refuseSecrets(objects: readonly WriteObject[]): void {
  for (const { kind, metadata, ...rest } of objects) {
    if (kind !== 'Secret') continue;
    const { data = {}, stringData = {} } = rest as Partial<
      Record<'data' | 'stringData', Readonly<Record<string, unknown>>>
    >;
    const isFilled = (value: unknown) => value !== '' && !isPlaceholder(value);
    if (isPlaceholder(data) || isPlaceholder(stringData)) continue;
    const filled = Object.entries({ ...data, ...stringData }).find(([, value]) => isFilled(value));
    if (filled === undefined) continue;
    throw new CommandError(
      `Secret ${metadata.namespace ?? ''}/${metadata.name}: has a value for "${filled[0]}", which would be written to a file; create the Secret in the cluster and leave its data out`,
    );
  }
}
