import { expect, test } from 'vitest';
import { isOperatorConfig, type OperatorOptions, operator } from './operator.js';

const run = async () => ({ definitions: [] });
const valid = { name: 'sites', image: 'registry.example.com/sites', run };

test('a valid one', () => {
  const made = operator(valid);
  expect(made).toMatchObject(valid);
  expect(isOperatorConfig(made)).toBe(true);
  expect(isOperatorConfig(valid)).toBe(false);
});

test.each(['sites', 'library/sites', 'localhost:5000/sites', 'registry.example.com:443/a/b-c/d_e', '[::1]:5000/sites'])(
  'the image %s',
  (image) => expect(operator({ ...valid, image }).image).toBe(image),
);

test.each<[options: object, message: string]>([
  [{ imgae: 'x' }, 'operator: unknown option "imgae"; did you mean "image"?'],
  [{ name: 'Sites' }, 'operator: name "Sites" is invalid: '],
  [{ name: 3 }, 'operator: name must be a string, got number'],
  [
    { run: './src/main.js' },
    `operator "sites": run must be a function, e.g. () => import('./src/main.js'), got string`,
  ],
  [{ image: '' }, 'operator "sites": image must be a repository'],
  [{ image: 'registry.example.com/sites:1' }, 'image "registry.example.com/sites:1" has a tag; give it as version'],
  [{ image: 'sites:latest' }, 'image "sites:latest" has a tag; give it as version'],
  [{ image: 'sites@sha256:0' }, 'image "sites@sha256:0" has a digest; omit it, riata sets it'],
  [{ image: 'registry.example.com/Sites' }, 'image "registry.example.com/Sites" is not a valid repository name'],
  [{ namespace: 'a.b' }, 'operator "sites": namespace "a.b" is invalid: '],
])('%j is refused', (options, message) => {
  expect(() => operator({ ...valid, ...options } as OperatorOptions)).toThrow(message);
});
