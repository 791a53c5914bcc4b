import { goQuote } from '../status/go-quote.js';

const messages: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** What client-go makes of an answer that is no success and no Status (`NewGenericServerResponse`). */
export function serverResponseError(code: number, body: string, isText: boolean): string {
  const said = isText ? body.slice(0, 2048).trim() : 'unknown';
  const known = messages[code];
  if (known !== undefined) return known;
  if (code === 403 || code === 415) return said;
  if (code === 406) {
    const missing = said === '' || said === 'unknown';
    return missing ? 'the server was unable to respond with a content type that the client supports' : said;
  }
  if (code >= 500) return `an error on the server (${goQuote(said)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${code} but did not return more information`;
}
