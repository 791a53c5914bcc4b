/** The base URL of a server, checked; `fail` makes the error. A query or fragment is dropped, as clientcmd does. */
export function serverUrl(text: string | undefined, fail: (problem: string) => Error): string {
  if (text === undefined || text === '') throw fail('is missing; set a URL such as https://10.0.0.1:6443');
  // `localhost:8080` parses as a URL with the scheme `localhost:`.
  if (!/^https?:\/\//i.test(text)) {
    throw fail(
      text.includes('@') || text.includes('//')
        ? 'must be a URL that starts with https:// or http://'
        : `must be a URL that starts with https:// or http://, got "${text}"; write https://${text}`,
    );
  }
  if (!URL.canParse(text)) throw fail('is not a valid URL; set one such as https://10.0.0.1:6443');
  const { origin, pathname, username, password } = new URL(text);
  if (username !== '' || password !== '') {
    throw fail('must not contain a user name or password; put them into the user entry (username, password)');
  }
  return origin + pathname.replace(/\/+$/, '');
}
