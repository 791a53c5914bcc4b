// @ts-check
/**
 * Reports mutable state at module level: everything that uses a module would share it, whichever client, server or clock it
 * belongs to. `npm run check` fails on any that is not in the list below with a reason.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * State that stays at module level, with the reason; `file#name`.
 * @type {Readonly<Record<string, string>>}
 */
const allowed = {
  'packages/riata/src/object/value/lossy.ts#records':
    'About API objects, which are plain JSON and may be frozen: it cannot live in them.',
  'packages/riata/src/manager/run.ts#ending':
    'run() owns the exit code and the signals of the process, and a process has one end.',
  'packages/apiserver/src/load-write-parts.ts#loaded':
    'A module that is imported on first use: the module loader has one of each.',
  'packages/apiserver/src/resource/load-kind-parts.ts#loaded':
    'A module that is imported on first use: the module loader has one of each.',
  'packages/apiserver/src/resource/custom/in-version.ts#converted':
    'A memo of a pure function of stored objects, which are frozen: it cannot live in them.',
  'packages/apiserver/src/resource/built-in/built-in-resource.ts#below':
    'Constants, read from the generated tables on first use.',
  'packages/apiserver/src/schema/built-in/built-in-schema.ts#nodes':
    'Constants, read from the generated types on first use.',
  'packages/apiserver/src/schema/built-in/built-in-schema.ts#patchNodes':
    'Constants, read from the generated types on first use.',
  'packages/apiserver/src/protobuf/message-plan.ts#plans': 'Constants, read from the generated types on first use.',
  'packages/apiserver/src/schema/pattern/go-pattern.ts#known':
    'A bounded memo of compiled patterns: CEL compiles the pattern of matches() on each evaluation.',
};

/** Classes whose instances never change. */
const immutableClasses = new Set([
  ...['Error', 'RegExp', 'TypeError', 'URL'],
  ...['Cond', 'FieldSet', 'LabelSelectorImpl', 'Optional', 'OptionNames', 'Removed'],
]);
/** Checked by the writes to them, as a literal is. */
const buffers = /^(?:Array|Buffer|(?:Big)?(?:Int|Uint|Float)(?:8|16|32|64)(?:Clamped)?Array|ArrayBuffer|DataView)$/;
const weak = /^(?:Weak(?:Map|Set|Ref)|FinalizationRegistry)$/;
const writers = new Set([
  ...['push', 'pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin'],
  ...['set', 'add', 'delete', 'clear', 'write'],
]);
const objectWriters = new Set(['assign', 'defineProperty', 'defineProperties', 'setPrototypeOf']);

/** @typedef {{ type: string, start: number, end: number, [key: string]: any }} Node */

/** @param {string} file @param {string} text @returns {{ name: string, at: number, problem: string }[]} */
export function moduleState(file, text) {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  /** @type {{ name: string, at: number, problem: string }[]} */
  const found = [];
  /** @type {Set<string>} */
  const constants = new Set();
  /** @type {Set<string>} regular expressions that remember where they stopped */
  const stateful = new Set();
  const body = /** @type {Node[]} */ (/** @type {unknown} */ (program.body)).map((node) =>
    node.type.startsWith('Export') && node.declaration ? node.declaration : node,
  );
  const memos = new Set(body.filter(isMemoFunction).map((node) => node.id.name));

  /** @param {Node} id @param {Node | null} value @param {Node} [type] */
  const constant = (id, value, type) => {
    const names = namesOf(id);
    for (const name of names) constants.add(name);
    const name = names.join(', ');
    const bare = unwrap(value);
    const problem = bare && problemOf(bare, type, memos);
    if (problem) found.push({ name, at: id.start, problem });
    if (bare?.type === 'Literal' && bare.regex && /[gy]/.test(bare.regex.flags)) stateful.add(name);
  };

  for (const node of body) {
    // Node's own modules, such as process, have state that is the program's business.
    if (node.type === 'ImportDeclaration' && !node.source.value.startsWith('node:')) {
      for (const { local } of node.specifiers) constants.add(local.name);
    }
    if (node.type === 'VariableDeclaration' && !node.declare) {
      for (const { id, init } of node.declarations) {
        if (node.kind === 'const') constant(id, init, id.typeAnnotation?.typeAnnotation);
        else found.push({ name: namesOf(id).join(', '), at: id.start, problem: `a module-level ${node.kind}` });
      }
    }
    if (node.type === 'ClassDeclaration') {
      for (const member of node.body.body) {
        if (member.type !== 'PropertyDefinition' || !member.static || member.declare) continue;
        const name = `${node.id?.name}.${text.slice(member.key.start, member.key.end)}`;
        if (!member.readonly) found.push({ name, at: member.start, problem: 'a static field that is not readonly' });
        const bare = unwrap(member.value);
        const problem = bare && problemOf(bare, member.typeAnnotation?.typeAnnotation, memos);
        if (problem) found.push({ name, at: member.start, problem });
      }
    }
  }
  for (const { name, at, problem } of writesTo(body, constants, stateful)) {
    if (!found.some((other) => other.name === name)) found.push({ name, at, problem });
  }
  return found;
}

/** @param {Node} value @param {Node | undefined} type @param {ReadonlySet<string>} memos @returns {string | undefined} */
function problemOf(value, type, memos) {
  if (value.type === 'NewExpression') {
    const name = value.callee.name ?? value.callee.property?.name ?? '?';
    if (weak.test(name)) return `a ${name}`;
    if (name === 'Map' || name === 'Set') {
      return type?.typeName?.name === `Readonly${name}` ? undefined : `a ${name} without the type Readonly${name}`;
    }
    if (buffers.test(name) || immutableClasses.has(name)) return undefined;
    return `an instance of ${name}`;
  }
  if (value.type !== 'CallExpression') return undefined;
  if (memos.has(value.callee.name) || isMemoFunction(unwrap(value.callee))) return 'a function that remembers';
  return undefined;
}

/** Whether a function has variables of its own and returns a function that may change them. @param {Node | null} node */
function isMemoFunction(node) {
  if (!node || !/^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return false;
  if (node.body?.type !== 'BlockStatement') return false;
  const statements = /** @type {Node[]} */ (node.body.body);
  const keeps = statements.some(
    (one) =>
      one.type === 'VariableDeclaration' &&
      (one.kind !== 'const' ||
        one.declarations.some((/** @type {Node} */ { init }) =>
          /^(?:Weak)?(?:Map|Set)$/.test(unwrap(init)?.callee?.name),
        )),
  );
  return keeps && statements.some((one) => one.type === 'ReturnStatement' && /Function/.test(one.argument?.type));
}

/** @param {readonly Node[]} body @param {ReadonlySet<string>} constants @param {ReadonlySet<string>} stateful */
function* writesTo(body, constants, stateful) {
  /** @type {[node: Node, visible: ReadonlySet<string>][]} */
  const open = body.map((node) => [node, constants]);
  for (let next = open.pop(); next; next = open.pop()) {
    const [node] = next;
    let [, visible] = next;
    if (/Function/.test(node.type) && node.body) visible = without(visible, namesWithin(node));
    const target = writtenBy(node);
    if (target && visible.has(target)) {
      yield { name: target, at: node.start, problem: 'written after it was made' };
    }
    const { object, property } = node.callee ?? {};
    if (stateful.has(object?.name) && /^(?:test|exec)$/.test(property?.name) && visible.has(object.name)) {
      yield { name: object.name, at: node.start, problem: 'a regular expression that remembers where it stopped' };
    }
    for (const child of childrenOf(node)) open.push([child, visible]);
  }
}

/** The name of the variable that a node writes to. @param {Node} node @returns {string | undefined} */
function writtenBy(node) {
  if (node.type === 'AssignmentExpression') return ownerOf(node.left);
  if (node.type === 'UpdateExpression') return ownerOf(node.argument);
  if (node.type === 'UnaryExpression' && node.operator === 'delete') return ownerOf(node.argument);
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined;
  const { object, property } = node.callee;
  const [first] = node.arguments;
  if (property.name === 'copy') return first?.name;
  if (/^(?:Object|Reflect)$/.test(object.name) && objectWriters.has(property.name)) return first?.name;
  if (writers.has(property.name) || /^write[A-Z]/.test(property.name)) return object.name ?? ownerOf(object);
  return undefined;
}

/** The variable at the root of `a.b[c]`. @param {Node | undefined} node @returns {string | undefined} */
function ownerOf(node) {
  let at = unwrap(node ?? null);
  if (at?.type !== 'MemberExpression') return undefined;
  while (at?.type === 'MemberExpression') at = unwrap(at.object);
  return at?.name;
}

/** Without `as`, `satisfies`, `!` and parentheses. @param {Node | null} node @returns {Node | null} */
function unwrap(node) {
  let at = node;
  while (at && /^(?:TS(?:As|Satisfies|NonNull)Expression|ParenthesizedExpression)$/.test(at.type)) at = at.expression;
  return at;
}

/** @param {Node | null} pattern @returns {string[]} */
function namesOf(pattern) {
  if (!pattern) return [];
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((/** @type {Node} */ one) => namesOf(one.value ?? one.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesOf);
    case 'AssignmentPattern':
      return namesOf(pattern.left);
    case 'RestElement':
      return namesOf(pattern.argument);
    case 'TSParameterProperty':
      return namesOf(pattern.parameter);
    default:
      return [];
  }
}

/** Parameters and variables of a function, at any depth. @param {Node} fn @returns {Set<string>} */
function namesWithin(fn) {
  const names = new Set(fn.params.flatMap(namesOf));
  const open = [fn.body];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'VariableDeclarator') for (const name of namesOf(node.id)) names.add(name);
    open.push(...childrenOf(node));
  }
  return names;
}

/** @param {ReadonlySet<string>} names @param {ReadonlySet<string>} others */
function without(names, others) {
  return new Set([...names].filter((name) => !others.has(name)));
}

/** @param {Node} node @returns {Node[]} */
function childrenOf(node) {
  return Object.values(node)
    .flat()
    .filter((child) => typeof child?.type === 'string');
}

/**
 * What is wrong with the sources, and with the list of what is allowed.
 * @param {Iterable<readonly [file: string, text: string]>} sources @param {Readonly<Record<string, string>>} exceptions
 */
export function stateProblems(sources, exceptions = allowed) {
  const unused = new Set(Object.keys(exceptions));
  const problems = [];
  for (const [file, text] of sources) {
    for (const { name, at, problem } of moduleState(file, text)) {
      if (Object.hasOwn(exceptions, `${file}#${name}`)) unused.delete(`${file}#${name}`);
      else problems.push(`${file}:${text.slice(0, at).split('\n').length} ${name} is ${problem}`);
    }
  }
  for (const entry of unused)
    problems.push(`tools/check-module-state.mjs: ${entry} is allowed, but not there any more`);
  return problems;
}

/** @returns {Generator<[file: string, text: string]>} */
function* sources() {
  for (const name of readdirSync(join(root, 'packages'))) {
    const src = join(root, 'packages', name, 'src');
    for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
      if (!path.endsWith('.ts') || /\.(test|test-d|fixture)\.ts$/.test(path)) continue;
      yield [relative(root, join(src, path)), readFileSync(join(src, path), 'utf8')];
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = stateProblems(sources());
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error('\nGive it an owner: a client, a cache, a server, or the object that it is about.');
    process.exit(1);
  }
  console.log(`module state: none besides the ${Object.keys(allowed).length} exceptions`);
}
