import { errorChain, userFrame } from '../../runtime/log/user-frame.js';

/** Of a package, not of what tools keep in `node_modules/.cache`. */
const installedFrame = /node_modules[\\/](?!\.cache)/;

/**
 * Where an error left the user's code, as `rules.ts:41`: for answers, which name neither folders nor packages. Undefined
 * if no such place is in the stacks of the error and its causes.
 */
export function placeOf(error: unknown): string | undefined {
  for (const { stack } of errorChain(error)) {
    const own = String(stack)
      .split('\n')
      .filter((line) => !installedFrame.test(line))
      .join('\n');
    const place = /([^\\/(]+:\d+):\d+\)?$/.exec(userFrame(own) ?? '')?.[1];
    if (place !== undefined) return place;
  }
  return undefined;
}
