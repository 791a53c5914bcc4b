import type { SurroundingLine } from '@riata/cli/view';
import type { KubeObject } from 'riata';
import type { Pod } from 'riata/kinds';
import { summarize } from 'riata/patterns';

/** Summarizes an object in one line, for the view of `riata top`. */
export function objectLine(object: KubeObject): SurroundingLine & { readonly state: string } {
  const summary = summarize(object);
  // kstatus counts every Pod that has ended as Current, however it ended.
  const failed = summary.error || summary.state === 'failed';
  const isDone = !failed && !summary.transitioning && summary.state !== 'succeeded';
  const state = isDone ? 'ready' : summary.state;
  const detail = summary.message.join(', ') || (object.kind === 'Pod' ? ((object as Pod).spec?.nodeName ?? '') : '');
  const text = `${object.kind.padEnd(12)} ${object.metadata.name.padEnd(34)} ${state.padEnd(12)} ${detail}`;
  if (failed) return { mark: '✗', color: 'red', text, state };
  return isDone ? { mark: '●', color: 'green', text, state } : { mark: '◌', color: 'yellow', text, state };
}
