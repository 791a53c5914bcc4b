// @ts-check
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

/**
 * The status of one GET on a connection of its own, or undefined if nobody answered within two seconds.
 * @param {string} url
 * @param {{ ca?: string, token?: string }} [options]
 * @returns {Promise<number | undefined>}
 */
export function statusOf(url, { ca, token } = {}) {
  return new Promise((resolve) => {
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(url, { ca, headers, agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
    request.on('close', () => resolve(undefined));
    request.end();
  });
}
