/** The spec of an object: servers always give one, though the type says that they need not. */
export function specOf<S>(object: { readonly spec?: S | undefined; readonly metadata: { readonly name?: string } }): S {
  if (object.spec === undefined) throw new Error(`${object.metadata.name} has no spec`);
  return object.spec;
}
