const domain =
  '(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\\.[a-zA-Z0-9-]+)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?';
const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const reference = new RegExp(
  `^(?:${domain}/)?${part}(?:/${part})*(?::([\\w][\\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

/** The default pull policy: always for the tag `latest`, named or implied. */
export function pullPolicyFor(image: unknown): 'Always' | 'IfNotPresent' {
  const found = typeof image === 'string' ? reference.exec(image) : null;
  if (found === null) return 'IfNotPresent';
  const [, tag, digest] = found;
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent';
}
