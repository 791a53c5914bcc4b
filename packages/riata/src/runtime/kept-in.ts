/**
 * The value that an object of another owner, such as a clock or a signal, has under a key; made on first use. It lives in the
 * object, out of sight of loops and copies, so that no module has to remember objects. A frozen object keeps nothing: each
 * call makes a new value for it.
 */
export function keptIn<T>(object: object, key: symbol, make: () => T): T {
  if (Object.hasOwn(object, key)) return (object as { readonly [key]: T })[key] as T;
  const value = make();
  Reflect.defineProperty(object, key, { value });
  return value;
}
