import { expect, test } from 'vitest';
import { HandlerTransaction } from './handler-transaction.js';

test('what is registered comes with the commit, in order; later ones at once', () => {
  const transaction = new HandlerTransaction();
  const seen: string[] = [];
  transaction.add(() => seen.push('one'));
  transaction.add(() => seen.push('two'));
  expect(seen).toEqual([]);
  transaction.commit();
  transaction.commit();
  transaction.add(() => seen.push('three'));
  transaction.rollback();
  expect(seen).toEqual(['one', 'two', 'three']);
  expect(transaction.state).toBe('committed');
});

test('what is rolled back never comes', () => {
  const transaction = new HandlerTransaction();
  const seen: string[] = [];
  transaction.add(() => seen.push('one'));
  transaction.rollback();
  transaction.add(() => seen.push('two'));
  expect(() => transaction.commit()).toThrow('create a new one');
  expect(seen).toEqual([]);
});
