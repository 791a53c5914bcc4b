type Node = Record<string, unknown>;

/** Whether it is a document of OpenAPI 3 or 2. */
export function isOpenApi(body: unknown): body is Node {
  return isNode(body) && ('openapi' in body || 'swagger' in body);
}

/**
 * An OpenAPI document without what is not had here: the sentences of the real server about its own kinds, its unions
 * (which no client reads), what other tests on the same server have defined, and what is served for tokens alone.
 * Parameters stand where they are used.
 */
export function plainOpenApi(document: Node): unknown {
  const { parameters, ...rest } = document;
  const shared = isNode(parameters) ? parameters : {};
  const plain = plainNode(rest, shared, '') as Node;
  if (isNode(plain.paths)) plain.paths = without(plain.paths, isOthersPath);
  if (isNode(plain.definitions)) plain.definitions = without(plain.definitions, isOthersDefinition);
  return plain;
}

function plainNode(value: unknown, shared: Node, key: string): unknown {
  if (Array.isArray(value)) return value.map((item) => plainNode(item, shared, ''));
  if (!isNode(value)) return value;
  const { $ref, allOf } = value;
  if (typeof $ref === 'string' && $ref.startsWith('#/parameters/')) {
    return plainNode(shared[$ref.slice('#/parameters/'.length)], shared, '');
  }
  // A reference with a sentence beside it has to be wrapped.
  const [only, ...more] = Array.isArray(allOf) ? allOf : [];
  if (isNode(only) && '$ref' in only && more.length === 0)
    return plainNode({ ...value, allOf: undefined, ...only }, shared, key);
  const named = ['properties', 'definitions', 'schemas'].includes(key);
  const kept = Object.entries(value).filter(
    ([name, inner]) => inner !== undefined && (named || !isLeftOut(name, inner)),
  );
  return Object.fromEntries(kept.map(([name, inner]) => [name, plainNode(inner, shared, name)]));
}

function isLeftOut(name: string, value: unknown): boolean {
  if (name === 'x-kubernetes-unions') return true;
  // What is sent beside objects is known in many groups, also in such as are not served.
  if (name === 'x-kubernetes-group-version-kind' && /"(DeleteOptions|WatchEvent)"/.test(JSON.stringify(value)))
    return true;
  return name === 'description' && typeof value === 'string' && !value.includes('custom words');
}

function isOthersPath(path: string): boolean {
  if (/^\/(?:\.well-known|openid|version)\//.test(path)) return true;
  const group = /^\/apis\/([^/]+)/.exec(path)?.[1] ?? '';
  return group.includes('.') && !group.endsWith('.k8s.io') && !group.startsWith('open-api.');
}

function isOthersDefinition(name: string): boolean {
  return name === 'io.k8s.apimachinery.pkg.version.Info' || (!name.startsWith('io.k8s.') && !/\.open-api\./.test(name));
}

function without(node: Node, isLeft: (name: string) => boolean): Node {
  return Object.fromEntries(Object.entries(node).filter(([name]) => !isLeft(name)));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
