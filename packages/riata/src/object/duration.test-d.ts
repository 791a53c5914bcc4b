import { expectTypeOf, test } from 'vitest';
import type { Duration } from './duration.js';

test('a duration is a number and a unit', () => {
  expectTypeOf<'30s'>().toExtend<Duration>();
  expectTypeOf<'1.5h'>().toExtend<Duration>();
  expectTypeOf<'250ms'>().toExtend<Duration>();
  expectTypeOf<'30'>().not.toExtend<Duration>();
  expectTypeOf<'1w'>().not.toExtend<Duration>();
  expectTypeOf<'never'>().not.toExtend<Duration>();
  expectTypeOf<string>().not.toExtend<Duration>();
  expectTypeOf<number>().not.toExtend<Duration>();
});
