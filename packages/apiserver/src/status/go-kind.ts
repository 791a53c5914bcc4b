import { splitApiVersion } from 'riata/object';

/** Formats a kind as Go prints a `GroupVersionKind`, e.g. `example.com/v1, Kind=Widget`, or `/v1, Kind=Pod`. */
export function goKind(apiVersion: string, kind: string): string {
  const { group, version } = splitApiVersion(apiVersion);
  return `${group}/${version}, Kind=${kind}`;
}
