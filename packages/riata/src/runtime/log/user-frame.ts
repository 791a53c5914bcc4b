/** Where this package lies, as stack traces name it; not so in a bundle without source maps. */
const packageFolder = /^(.*[\\/]riata[\\/])(?:src|dist)[\\/]/;
/** As `KubeClient.get (/app/main.js:3:1)`; with a bundler's or an engine's marks before the place. */
const frameLine = /^ +at (?:async )?(.+:\d+:\d+\)?)$/gm;
/**
 * Functions of this package that stand between a failure and the code that uses it. Looked at only in a bundle without
 * source maps, where all frames are of one file: there, functions of the user's with these names are passed over, too.
 */
const ownNames = [
  /^(?:KubeClient|TrackedClient|SubResource|KindClient|CallMemory|TrackedCalls|TrackedConnection|UnownedCalls|ObjectStatus|HandlersError)\./,
  /^(?:\w+\.)?(?:#?makeCall|#write|#applySlowly|#applied|#say|said|siteOf|track)(?: \[as \w+\])? \(/,
  /^(?:createOrUpdate|createOrPatch|retryOnConflict) \(/,
  /^(?:Object\.)?(?:get|find|list|watch|create|update|patch|apply|applyFields|delete|deleteCollection|table|logs|status) \(/,
];

/** The first place in a stack that is neither of this package nor of Node, as `reconcile (/app/main.ts:41:12)`. */
export function userFrame(stack: unknown): string | undefined {
  const own = folderOf(framesOf(new Error().stack)[0] ?? '');
  const isOwn = (frame: string) =>
    own === undefined ? ownNames.some((name) => name.test(frame)) : folderOf(frame) === own;
  return framesOf(stack).find((frame) => !isOwn(frame));
}

/** As {@link userFrame}, of an error or else of what caused it. */
export function thrownAt(error: unknown): string | undefined {
  for (const { stack } of errorChain(error)) {
    const frame = userFrame(stack);
    if (frame !== undefined) return frame;
  }
  return undefined;
}

/** The error, its cause, the cause of that…; of many, the first. */
export function* errorChain(error: unknown): Iterable<Error> {
  const seen = new Set<unknown>();
  for (
    let at = error;
    at instanceof Error && !seen.has(at);
    at = at instanceof AggregateError ? at.errors[0] : at.cause
  ) {
    seen.add(at);
    yield at;
  }
}

/** The places of a stack, innermost first; those in Node itself are left out. */
export function framesOf(stack: unknown): string[] {
  if (typeof stack !== 'string') return [];
  return [...stack.matchAll(frameLine)]
    .map(([, frame = '']) => frame.replace('file://', ''))
    .filter((frame) => !frame.includes('node:'));
}

/** Of `cook (/app/node_modules/riata/dist/index.js:3:1)` the folder before `dist`. */
function folderOf(frame: string): string | undefined {
  const path = frame.replace(/^.* \(/, '');
  return packageFolder.exec(path)?.[1];
}
