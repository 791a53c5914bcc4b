import type { Difference } from './difference.js';

/** A way in which the embedded server is known not to be like the real one. */
export interface KnownDifference {
  /** Why it is so, and why that is bearable for now. */
  readonly reason: string;
  /** The play in which it must occur: when it does not any more, it has to leave this list. */
  readonly play: string;
  readonly matches: (difference: Difference) => boolean;
}

/**
 * At most 20. Random and clock-dependent behaviour of the real server is no difference; the `Normaliser` evens it out:
 * the order of managedFields and of errors about several fields, how often it repeats an error about metadata, what
 * else it reports beside an undeclared field, and when it sends bookmarks.
 */
export const knownDifferences: readonly KnownDifference[] = [
  {
    play: 'methods and media types',
    reason: "Node's HTTP server answers methods that HTTP does not know itself: 400, where the real one says 405.",
    matches: ({ step, at }) => at === 'status' && / NOPE /.test(step),
  },
  {
    play: 'health and version',
    reason:
      'It says which server it is: its own build, and no commit, Go or compiler that it would have been made with.',
    matches: ({ step, at }) =>
      / \/version/.test(step) &&
      /^body\.(gitVersion|gitCommit|goVersion|compiler|buildDate|gitTreeState|platform)$/.test(at),
  },
  {
    play: 'status and scale of custom objects',
    reason:
      'A Scale whose replicas are no number is refused in words of its own: the real server says that its scheme does ' +
      'not know v1.Scale, or shows the whole Scale.',
    matches: ({ step, real }) => /"replicas":"x"/.test(step) && /v1.Scale|ScaleSpec/.test(JSON.stringify(real)),
  },
  {
    play: 'numbers and nesting without bounds',
    reason:
      'Objects may be nested 1,000 deep, not 10,000: 400 beyond. Walking deeper would exhaust the stack, and V8 ends the ' +
      'whole process if a pattern has to be compiled near its end.',
    matches: ({ at, embedded }) => at === 'status' && JSON.stringify(embedded).includes('exceeded max depth'),
  },
  {
    play: 'strategic merge patches, good and bad',
    reason:
      'An element without its merge key is a fault of the caller: 400. The real server answers 500, with the element ' +
      'as Go prints it.',
    matches: ({ step, at }) => at === 'status' && step.includes('no-key'),
  },
  {
    play: 'documents in YAML',
    reason: 'What is wrong with a text that is no YAML is told in the words of another reader than that of Go.',
    matches: ({ at, real, embedded }) =>
      at === 'body.message' && /yaml: line \d+: did not find/.test(String(real)) && / yaml: /.test(String(embedded)),
  },
  {
    play: 'changes of Pods',
    reason:
      'A Pod that must not change in this way: the real server shows the difference in the form that it has inside Go. ' +
      'Here the changed fields are told by their paths.',
    matches: ({ at, real, embedded }) =>
      at.endsWith('message') && /\n@@ /.test(String(real)) && firstLine(real) === firstLine(embedded),
  },
  {
    play: 'Jobs and CronJobs that are wrong',
    reason:
      "A Job's template that must not change is shown in JSON, here as it was sent: the real server shows the form that " +
      'it has inside Go.',
    matches: ({ at, real, embedded }) =>
      at.endsWith('message') &&
      /^.*"Containers".*: field is immutable$/s.test(String(real)) &&
      String(embedded).endsWith(': field is immutable'),
  },
  {
    play: 'tricks with paths',
    reason: 'A name that is no UTF-8 is shown as text, with the character for what cannot be shown.',
    matches: ({ step, at }) => at === 'body.message' && step.includes('%ff'),
  },
  {
    play: 'hostile keys',
    reason:
      "A map that is there twice replaces the first, with the same warning or error: Go's decoder puts the members of both " +
      'together.',
    matches: ({ step, at }) => step.includes('"labels":{"a":"1"},"labels":{"b":"2"}') && /labels/.test(at),
  },
  {
    play: 'requests for certificates',
    reason: 'Its administrator has a name of its own, and no uid: the token says who it is, not a file of users.',
    matches: ({ at }) => at === 'body.spec.username' || at === 'body.spec.uid',
  },
];

function firstLine(text: unknown): string {
  return String(text).split('\n')[0] ?? '';
}
