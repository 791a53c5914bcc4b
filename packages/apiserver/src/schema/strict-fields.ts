import type { Steps } from '../steps.js';
import type { SchemaNode } from './built-in/schema-node.js';
import { scanMembers } from './scan-members.js';

/** The most complaints that one request gets. */
const most = 100;

/**
 * The errors of a strict decoding of a JSON text of a built-in kind, in the order of the text: unknown and duplicate
 * fields, each with its path, e.g. `unknown field "spec.foo"`. For `fieldValidation` Strict and Warn. The text must be
 * valid JSON.
 */
export function* strictComplaints(text: string, schema: SchemaNode): Steps<string[]> {
  const found: string[] = [];
  const complain = (what: 'unknown' | 'duplicate', path: () => string) => {
    const reported = found.length < most ? complaint(what, path()) : '';
    // The same is said once, however often it stands there.
    if (reported !== '' && !found.includes(reported)) found.push(reported);
  };
  yield* scanMembers(text, schema, (node, key, path, isDuplicate) => {
    if (node.go.is === 'map') {
      if (isDuplicate) complain('duplicate', path);
      return inside(node.additionalProperties);
    }
    if (node.go.is !== 'struct') return undefined;
    const field = node.properties?.[key];
    if (field === undefined) complain('unknown', path);
    else if (isDuplicate) complain('duplicate', path);
    return inside(field);
  });
  return found;
}

/** The complaints about duplicate fields in a JSON text of a custom resource, in the order of the text. */
export function* duplicateComplaints(text: string): Steps<string[]> {
  const found: string[] = [];
  yield* scanMembers<true>(text, true, (_node, _key, path, isDuplicate) => {
    if (isDuplicate && found.length < most) found.push(complaint('duplicate', path()));
    return true;
  });
  return found;
}

/** The errors in the text of a JSON patch: unknown and duplicate members of its operations. */
export function* stepComplaints(text: string): Steps<string[]> {
  const found: string[] = [];
  const complain = (what: 'unknown' | 'duplicate', path: string) => {
    if (found.length < most) found.push(`json patch ${complaint(what, path)}`);
  };
  yield* scanMembers<'step' | 'value'>(text, 'step', (owner, key, path, isDuplicate) => {
    if (owner === 'step' && !['op', 'path', 'from', 'value'].includes(key)) complain('unknown', path());
    else if (isDuplicate) complain('duplicate', path());
    return 'value';
  });
  return found;
}

/** The complaint about a field that pruning dropped. */
export function unknownComplaint(path: string): string {
  return complaint('unknown', path);
}

function complaint(what: 'unknown' | 'duplicate', path: string): string {
  return `${what} field "${path.replace(/["\\]/g, '\\$&')}"`;
}

/** The schema of the objects in a value: lists are searched through. Types that read their own JSON are skipped. */
function inside(node: SchemaNode | undefined): SchemaNode | undefined {
  let at = node;
  while (at?.items !== undefined) at = at.items;
  return at?.go.is === 'struct' || at?.go.is === 'map' ? at : undefined;
}
