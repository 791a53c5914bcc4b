/** `1.2 s`, `3 min`: one figure that says enough. */
export function formatMs(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return '–';
  if (ms < 1) return '< 1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

export function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '–';
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(0)} KB`;
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** `14:02:31`. */
export function formatTime(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB');
}

/** A key as text: `cluster: namespace/name`. */
export function formatKey(key: {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly name: string;
}): string {
  const name = key.namespace ? `${key.namespace}/${key.name}` : key.name;
  return key.cluster ? `${key.cluster}: ${name}` : name;
}

/** A value of a field, short. */
export function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 1);
}
