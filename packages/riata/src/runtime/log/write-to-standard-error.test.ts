import process from 'node:process';
import { expect, test, vi } from 'vitest';
import { writeToStandardError } from './write-to-standard-error.js';

test('a log without a reader does not end the process', () => {
  const broken = new Error('write EPIPE');
  const listeners = () => process.stderr.listenerCount('error');
  const before = listeners();
  const write = vi.spyOn(process.stderr, 'write').mockImplementation(((_: string, done: (error?: Error) => void) => {
    done(broken);
    // As a stream does without a listener: throws.
    process.stderr.emit('error', broken);
    return false;
  }) as typeof process.stderr.write);
  try {
    for (let i = 0; i < 2; i++) expect(() => writeToStandardError('a line\n')).not.toThrow();
    expect(write.mock.calls.map(([text]) => text)).toEqual(['a line\n', 'a line\n']);
    expect(listeners()).toBe(before);
  } finally {
    write.mockRestore();
  }
});
