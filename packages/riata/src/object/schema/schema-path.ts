const plainName = /^[A-Za-z_$][\w$-]*$/;

/** The path of a property: `spec.name`, or `spec["odd.name"]` where dots would mislead. */
export function propertyPath(path: string, name: string): string {
  if (!plainName.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '.' ? name : `${path}.${name}`;
}

/** The path of a list's elements. */
export function itemPath(path: string): string {
  return `${path}[]`;
}

/** The path of a map's values. */
export function valuePath(path: string): string {
  return path === '.' ? '*' : `${path}.*`;
}
