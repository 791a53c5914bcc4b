const forbidden =
  /User \\?"([^"\\]+)\\?" cannot (\w+) (?:resource \\?"([^"\\]+)\\?"(?: in API group \\?"([^"\\]*)\\?")?|path \\?"([^"\\]+)\\?")(?: (in the namespace \\?"[^"\\]+\\?"|at the cluster scope))?/g;

/** The rights that a text says are missing, as API servers put it: `list deployments.apps at the cluster scope`. */
export function missingRights(lines: readonly string[]): string[] {
  const found = new Set<string>();
  for (const line of lines) {
    for (const [, , verb, resource, group, path, scope] of line.matchAll(forbidden)) {
      const what = path ?? (group ? `${resource}.${group}` : resource);
      found.add([verb, what, scope?.replaceAll('\\', '')].filter(Boolean).join(' '));
    }
  }
  return [...found].sort();
}
