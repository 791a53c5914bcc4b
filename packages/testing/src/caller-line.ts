/** Code that stands between the user's and a request: ours, that of other packages, and Node's. */
const between =
  /node:|[\\/]node_modules[\\/]|[\\/](?:riata|testing|apiserver|sandbox)[\\/](?:src|dist)[\\/](?!.*\.test\.ts)/;
const frameLine = /^ +at (?:async )?(.+:\d+:\d+\)?)$/gm;

/** The innermost place in a stack that is the user's, as `reconcile (/app/main.ts:41:12)`. */
export function callerLine(stack: string | undefined): string | undefined {
  const frames = [...(stack ?? '').matchAll(frameLine)].map(([, frame = '']) => frame.replace('file://', ''));
  return frames.find((frame) => !between.test(frame));
}
