// The test of `npm test`, with more rounds: it reads the number when it is loaded.
process.env.RIATA_CUT_ROUNDS ??= '1000';
await import('../behaviour/stream-cuts.test.js');
