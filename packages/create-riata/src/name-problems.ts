const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Names that npm refuses for packages, or that Node has for itself. */
const takenPackageNames: ReadonlySet<string> = new Set([
  'node_modules',
  'favicon',
  'test',
  'http',
  'https',
  'net',
  'fs',
  'path',
  'riata',
]);

/** Why a project name is invalid; undefined if it is valid. Its package, operator and Deployment have the same name. */
export function projectNameProblem(name: string): string | undefined {
  if (name.length > 63) return `name "${name}" has ${name.length} characters; at most 63 are allowed`;
  if (!label.test(name)) {
    const nearest = labelOf(name);
    const remedy = nearest === '' ? 'e.g. "my-operator"' : `e.g. "${nearest}"`;
    return `name "${name}" must be a DNS label: lower-case letters, digits and "-" inside; ${remedy}`;
  }
  if (takenPackageNames.has(name)) return `name "${name}" is taken; choose another, e.g. "${name}-operator"`;
  return undefined;
}

/** Why the name of a kind is invalid in TypeScript or in Kubernetes. */
export function kindProblem(kind: string): string | undefined {
  if (kind.length > 63) return `kind "${kind}" has ${kind.length} characters; at most 63 are allowed`;
  if (/^[A-Z][A-Za-z0-9]*$/.test(kind)) return undefined;
  const nearest = pascalCase(kind);
  return `kind "${kind}" must be in PascalCase: letters and digits; e.g. "${nearest === '' ? 'Site' : nearest}"`;
}

/** Why the name of an API group is invalid. */
export function groupProblem(group: string): string | undefined {
  const isDomain = group.length <= 253 && group.split('.').every((part) => part.length <= 63 && label.test(part));
  if (!isDomain) return `group "${group}" must be a DNS subdomain in lower case, e.g. "example.com"`;
  if (!group.includes('.')) return `group "${group}" must be a domain with a dot, e.g. "${group}.example.com"`;
  if (/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) {
    return `group "${group}" is reserved for Kubernetes; choose a domain of yours, e.g. "example.com"`;
  }
  return undefined;
}

/** The DNS label that is nearest to a text; empty if there is none. */
function labelOf(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
}

function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
    .replace(/^\d+/, '');
}
