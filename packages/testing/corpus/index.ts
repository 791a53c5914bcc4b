import { alwaysWrong } from './always-wrong.js';
import type { CorpusCase } from './corpus-case.js';
import { crashes } from './crashes.js';
import { memory } from './memory.js';
import { ownership } from './ownership.js';
import { recovery } from './recovery.js';
import { specChanges } from './spec-changes.js';
import { staleViews } from './stale-views.js';

/** Known bugs of operators, each with its fix. */
export const corpus: readonly CorpusCase[] = [
  ...crashes,
  ...recovery,
  ...memory,
  ...staleViews,
  ...alwaysWrong,
  ...ownership,
  ...specChanges,
];
