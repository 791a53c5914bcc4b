import { expect, test } from 'vitest';
import { History } from '../run/history.js';
import type { RunResult } from '../run/run-result.js';
import { storyText } from './story-text.js';

test('consecutive identical writes are one line with a count', () => {
  const history = new History();
  const who = 'manager-1';
  history.add({ atMs: 0, who, what: 'start', text: 'starts' });
  for (const number of [1, 2, 3]) {
    history.add({ atMs: number, who, what: 'write', number, text: 'patch Site default/blog', code: 422 });
  }
  history.add({ atMs: 4, who, what: 'write', number: 4, text: 'patch Site default/blog', code: 200 });
  expect(storyText({ history } as RunResult).split('\n')).toEqual([
    '  manager-1  starts',
    '  manager-1  patch Site default/blog → 422   (write 1)',
    '  … 2 more of these …',
    '  manager-1  patch Site default/blog → 200   (write 4)',
  ]);
});
